internal import CJPEGRows

// What C code knows of a picture and its scans.

extension cjr_frame {
  /// The geometry of a picture whose row of blocks lies in `memory`, component behind component.
  init(_ header: JPEGHeader, _ geometry: JPEGGeometry, _ scale: JPEGScale, _ memory: UnsafeMutablePointer<Int16>) {
    self.init()
    component_count = UInt32(header.components.count)
    (columns, rows) = (UInt32(geometry.columns), UInt32(geometry.rows))
    var next = memory
    for (index, component) in header.components.enumerated() {
      let (width, height) = geometry.blocks(component)
      let stride = geometry.columns * component.across
      self[index] = cjr_component(
        across: UInt32(component.across), down: UInt32(component.down), width: UInt32(width), height: UInt32(height),
        stride: UInt32(stride), blocks: next, is_flat: geometry.samples(component, scale) == 1)
      next += 64 * stride * component.down
    }
  }

  /// A component, as the array of C has no subscript here.
  subscript(index: Int) -> cjr_component {
    get {
      switch index {
      case 0: components.0
      case 1: components.1
      case 2: components.2
      default: components.3
      }
    }
    set {
      switch index {
      case 0: components.0 = newValue
      case 1: components.1 = newValue
      case 2: components.2 = newValue
      default: components.3 = newValue
      }
    }
  }
}

extension cjr_scan {
  /// A scan at its beginning; the tables must live as long, and where it reads is set later.
  init(_ scan: JPEGScan, isProgressive: Bool) {
    self.init()
    let missing = 4 - scan.components.count
    let components = scan.components.map { UInt8($0) } + Array(repeating: 0, count: missing)
    let dc = scan.dc.map { $0.map { UnsafePointer($0.table) } } + Array(repeating: nil, count: missing)
    let ac = scan.ac.map { $0.map { UnsafePointer($0.table) } } + Array(repeating: nil, count: missing)
    component_count = UInt32(scan.components.count)
    self.components = (components[0], components[1], components[2], components[3])
    self.dc = (dc[0], dc[1], dc[2], dc[3])
    self.ac = (ac[0], ac[1], ac[2], ac[3])
    is_progressive = isProgressive
    (first, last) = (UInt8(scan.coefficients.lowerBound), UInt8(scan.coefficients.upperBound))
    (high, low) = (UInt8(scan.high), UInt8(scan.low))
    restart_interval = UInt32(scan.restartInterval)
    (offset, end) = (UInt64(scan.data.lowerBound), UInt64(scan.data.upperBound))
  }
}
