import MemChunks
import MemoryLimits
import Testing

@Suite("Levels that do not flutter")
struct PressureHoldTests {
  private static let second: UInt64 = 1_000_000_000

  @Test("It rises at once, and falls when it has been calm for a while")
  func calm() {
    var hold = PressureHold(sources: 1, calm: .seconds(2))
    hold.take(PressureSignal(.warning), from: 0, now: 0)
    #expect(hold.level == .warning)
    hold.take(PressureSignal(.normal), from: 0, now: 1 * Self.second)
    #expect(hold.level == .warning)
    hold.update(now: 3 * Self.second - 1)
    #expect(hold.level == .warning)
    hold.update(now: 3 * Self.second)
    #expect(hold.level == .normal)
  }

  @Test("Going to and fro in less than that is one level")
  func flutter() {
    var hold = PressureHold(sources: 1, calm: .seconds(2))
    var changes = 0
    for step in 0..<1_000 {
      let before = hold.level
      let level: PressureLevel = step % 2 == 0 ? .critical : .normal
      hold.take(PressureSignal(level), from: 0, now: UInt64(step) * Self.second)
      changes += hold.level == before ? 0 : 1
    }
    #expect(changes == 1 && hold.level == .critical)
  }

  @Test("The highest level of any source counts")
  func several() {
    var hold = PressureHold(sources: 3, calm: .zero)
    hold.take(PressureSignal(.warning), from: 0, now: 0)
    hold.take(PressureSignal(.critical), from: 2, now: 0)
    hold.take(PressureSignal(.normal), from: 1, now: 0)
    #expect(hold.level == .critical)
    hold.take(PressureSignal(.normal), from: 2, now: 1)
    #expect(hold.level == .warning)
    hold.take(PressureSignal(.normal), from: 0, now: 2)
    #expect(hold.level == .normal)
  }

  @Test("A level that is told of once ends by itself, and calm counts from then")
  func lasting() {
    var hold = PressureHold(sources: 2, calm: .seconds(2))
    hold.take(PressureSignal(.critical, lasting: .seconds(5)), from: 0, now: 0)
    hold.take(PressureSignal(.critical, lasting: .seconds(5)), from: 0, now: 4 * Self.second)
    hold.update(now: 8 * Self.second)
    #expect(hold.level == .critical)
    // Nobody looked in between.
    hold.update(now: 11 * Self.second)
    #expect(hold.level == .normal)
  }

  @Test("The gauge has a gap between rising and falling, and what has no limit to speak of is full")
  func gauge() {
    var gauge = LevelGauge()
    let shares = [79, 80, 76, 89, 90, 86, 85, 84, 79, 75, 74, 100, 74]
    #expect(
      shares.map { gauge.take($0, of: 100) } == [
        .normal, .warning, .warning, .warning, .critical, .critical, .critical, .warning, .warning, .warning, .normal,
        .critical, .normal,
      ])
    #expect(gauge.take(1, of: 0) == .critical)
  }
}
