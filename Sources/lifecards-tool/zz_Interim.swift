import Cards
import MemChunks
import Pictures

struct RenderOptions { var threads = 2; var compressionLevel = PNGWriter.defaultCompressionLevel }
struct RenderForecast {
  var width = 0, height = 0, layerCount = 0, drawnLayerCount = 0, skippedLayerCount = 0, rgbaByteCount = 0,
    peakByteCount = 0, bandCount = 0, fastDecoderCount = 0, leastBudget = 0
  ; var operators: [String: Int] = [:]
}
extension OpenRasterFile {
  func forecast(budget: Int, options: RenderOptions) throws -> RenderForecast { RenderForecast() }
  func render(to p: BytePath, in pool: ChunkPool, options: RenderOptions, progress: (Int, Int) throws -> Void) throws
    -> RenderAccount
  {
    try withoutActuallyEscaping(progress) { progress in
      try render(to: p, in: pool, compressionLevel: options.compressionLevel) { try? progress($0, $1) }
    }
  }
  func render(to sink: any PictureSink, in pool: ChunkPool, options: RenderOptions, progress: (Int, Int) throws -> Void)
    throws -> RenderAccount
  {
    let path = "/tmp/zz-interim.png"
    let account = try render(to: BytePath(path), in: pool, options: options, progress: progress)
    let source = try FileSource(BytePath(path))
    var bytes = [UInt8](repeating: 0, count: 65536)
    while true {
      let n = try bytes.withUnsafeMutableBytes { try source.read(into: $0) }; if n == 0 { break };
      try bytes.withUnsafeBytes { try sink.write(UnsafeRawBufferPointer(rebasing: $0[..<n])) }
    }
    return account
  }
}
