import ChunkTrace
import MemChunks
import TestSupport

/// A recording with two groups, a token that lasts, pressure, and a label that would like to be markup.
enum SampleSession {
  static let hostile = "</script><script>document.title='broken'</script><!-- \"&'\\ \u{2028}"

  /// Records it; the path of the trace.
  static func record(in directory: TemporaryDirectory) throws -> String {
    let path = directory.file("session.trace")
    let clock = ManualClock()
    let pool = ChunkPool(budget: .bytes(1_000_000), time: clock.read)
    let photos = ChunkGroup(in: pool, label: "photos")
    let recorder = try TraceRecorder(of: pool, to: path)
    let chunks = (0..<8).map { index in
      ValueChunk(
        in: pool, group: index < 4 ? photos : nil, label: index == 0 ? hostile : "chunk \(index)", size: 200_000
      ) {
        clock.advance(by: .milliseconds(10 * index + 10))
        return index
      }
    }
    let pin = try chunks[3].pin()
    for step in 0..<64 { try chunks[step * 5 % 8].ensureReady() }
    pool.report(.warning)
    clock.advance(by: .milliseconds(200))
    for step in 0..<16 { try chunks[step % 8].ensureReady() }
    pool.report(.normal)
    pin.unpin()
    try chunks[0].ensureReady()
    try recorder.close()
    return path
  }
}
