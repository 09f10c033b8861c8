import MemChunks

/// A trace as it was read from a file, with what its format knows beside the requests.
public struct TraceFile: Sendable {
  /// The requests. A recorded object's cost is the mean of what its generations took.
  public private(set) var trace = Trace()
  /// The last budget while it was recorded, in bytes; nil where the format knows none.
  public private(set) var budget: Int?
  /// How often something was generated while it was recorded, prefetches included; nil where the format does not know.
  public private(set) var generations: Int?
  /// Hits that could not be recorded.
  public private(set) var droppedHits = 0
  /// Where the damage is behind which nothing was used, when that was asked for.
  public private(set) var damage: TraceError?

  /// Reads a recorded trace, CSV with the columns `id` and `size`, or libCacheSim's oracleGeneral; tells them apart by how they
  /// begin. Where no cost is known, every object costs one microsecond.
  ///
  /// - Parameter salvage: takes what stands before the first damage for the whole, and says so in `damage`.
  /// - Throws: `TraceError`, with the place of the damage.
  public init(_ path: String, salvage: Bool = false) throws(TraceError) {
    try self.init(bytes: readBytes(path), file: path, salvage: salvage)
  }

  /// The same from bytes in memory; `file` is what to call them in errors.
  public init(bytes: [UInt8], file: String, salvage: Bool = false) throws(TraceError) {
    guard !bytes.isEmpty else { throw .empty(file: file) }
    do throws(TraceError) {
      try read(bytes, file, salvage: false)
    } catch {
      guard salvage, case .damaged = error else { throw error }
      self = try Self(salvaging: bytes, file, error)
    }
  }

  private init(salvaging bytes: [UInt8], _ file: String, _ damage: TraceError) throws(TraceError) {
    try read(bytes, file, salvage: true)
    self.damage = damage
  }

  private mutating func read(_ bytes: [UInt8], _ file: String, salvage: Bool) throws(TraceError) {
    if bytes.starts(with: TraceFormat.magic) {
      try readRecording(bytes, file, salvage: salvage)
    } else if Self.looksLikeText(bytes) {
      trace = try Trace(csv: bytes, file: file, salvage: salvage)
      if trace.objects.allSatisfy({ $0.cost == 0 }) { trace = trace.withCosts { _ in 1_000 } }
    } else {
      trace = try Trace(oracleGeneral: bytes, file: file, salvage: salvage)
    }
    guard trace.isCountable else { throw .uncountable(file: file) }
  }

  private static func looksLikeText(_ bytes: [UInt8]) -> Bool {
    let line = bytes.prefix(200).prefix { $0 != UInt8(ascii: "\n") && $0 != UInt8(ascii: "\r") }
    return line.allSatisfy { $0 >= 0x20 && $0 < 0x7f }
  }

  private mutating func readRecording(_ bytes: [UInt8], _ file: String, salvage: Bool) throws(TraceError) {
    var reader = RecordingReader(bytes, file)
    var (budget, generations, droppedHits) = (Int?.none, 0, 0)
    do throws(TraceError) {
      try reader.readHeader()
      while let event = try reader.next() {
        switch event {
        case .budget(let bytes): budget = bytes
        case .generated: generations += 1
        case .dropped(let hits): droppedHits += hits
        case .hit, .ready, .freed, .named, .pinned, .unpinned, .keepLimit, .time, .inside, .failed, .peak: break
        }
      }
    } catch {
      guard salvage, case .damaged = error else { throw error }
    }
    trace = reader.trace
    (self.budget, self.generations, self.droppedHits) = (budget, generations, droppedHits)
  }
}
