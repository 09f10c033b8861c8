import MemChunks

#if canImport(Darwin)
  import Darwin  // Not run here.
#elseif canImport(Android)
  import Android  // Not run here.
#elseif canImport(Musl)
  import Musl  // Not run here.
#else
  import Glibc
#endif

/// Stalls for want of memory, of the system or of a group (the kernel's document on PSI).
///
/// Late by nature: a stall has to happen first, and without swap anonymous memory does not stall, it is killed. So this
/// stands beside the look at the groups, not in its place.
package final class StallProbe: Probe {
  /// Whoever may not ask for more gets windows of two seconds only. A twentieth of the window is a stall worth an answer.
  private static let triggers = ["some 50000 1000000", "some 100000 2000000"]
  /// An event is sent once a window while the stall lasts; the next may be late.
  private static let duration = Duration.seconds(5)
  /// Where all that runs has stood still for so many percent of the last ten seconds, the system is at its end.
  private static let criticalStall = 10.0

  package let place: String
  let descriptor: Descriptor?
  let events = Int(POLLPRI)
  private let path: String

  /// - Parameters:
  ///   - path: A `memory` file of `/proc/pressure`, or `memory.pressure` of a group.
  ///   - trigger: What to ask for; nil for what suits here.
  package init(_ path: String, trigger: [UInt8]? = nil) throws(PressureSourceError) {
    guard let file = Descriptor(opening: path, O_RDWR | O_NONBLOCK) else {
      throw PressureSourceError("\(path): \(Descriptor.lastReason)")
    }
    // The kernel wants the zero that ends a string of C's.
    let wanted: [[UInt8]] = trigger.map { [$0] } ?? Self.triggers.map { Array($0.utf8) + [0] }
    guard wanted.contains(where: { file.write($0) }) else {
      throw PressureSourceError("\(path) takes no trigger: \(Descriptor.lastReason)")
    }
    (self.path, descriptor) = (path, file)
    place = path
  }

  package func look(isReady: Bool) -> (signal: PressureSignal?, next: Duration?) {
    guard isReady else { return (nil, nil) }
    let text = Descriptor(opening: path, O_RDONLY)?.text() ?? ""
    let stall = Self.fullStall(in: text)
    return (PressureSignal(stall >= Self.criticalStall ? .critical : .warning, lasting: Self.duration), nil)
  }

  /// The percentage of the last ten seconds in which everything stood still, from a line such as
  /// `full avg10=1.50 avg60=0.40 avg300=0.09 total=1234`.
  package static func fullStall(in text: String) -> Double {
    let line = text.split(whereSeparator: \.isNewline).first { $0.hasPrefix("full ") }
    let field = line?.split(separator: " ").first { $0.hasPrefix("avg10=") }
    return field.flatMap { Double($0.dropFirst(6)) } ?? 0
  }
}
