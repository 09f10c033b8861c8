// Darwin and Musl are not run here.
#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// Counts work down and tells one waiting task, once, that it is done or that it takes far too long.
private final class Watch: @unchecked Sendable {
  private struct State {
    var left: Int
    var waiting: CheckedContinuation<Bool, Never>?
  }

  private let state: Locked<State>

  init(_ count: Int) { state = Locked(State(left: count)) }

  func finishOne() {
    let waiting = state.withLock { state -> CheckedContinuation<Bool, Never>? in
      state.left -= 1
      guard state.left == 0 else { return nil }
      defer { state.waiting = nil }
      return state.waiting
    }
    waiting?.resume(returning: true)
  }

  /// Suspends until everything is done, or so many seconds have passed.
  func isDone(within seconds: Int) async -> Bool {
    await withCheckedContinuation { continuation in
      let isDone = state.withLock { state -> Bool in
        if state.left > 0 { state.waiting = continuation }
        return state.left == 0
      }
      if isDone { return continuation.resume(returning: true) }
      startDetached { [self] in
        var left = seconds * 100
        while left > 0, state.withLock({ $0.waiting != nil }) {
          usleep(10_000)
          left -= 1
        }
        let waiting = state.withLock { state -> CheckedContinuation<Bool, Never>? in
          defer { state.waiting = nil }
          return state.waiting
        }
        waiting?.resume(returning: false)
      }
    }
  }
}

/// Starts a thread that nobody joins, so that a test can give up on one that hangs.
private func startDetached(_ body: @escaping @Sendable () -> Void) {
  let context = Unmanaged.passRetained(Body(body)).toOpaque()
  #if canImport(Darwin)
    typealias Argument = UnsafeMutableRawPointer
  #else
    typealias Argument = UnsafeMutableRawPointer?
  #endif
  let run: @convention(c) (Argument) -> UnsafeMutableRawPointer? = { argument in
    let pointer: UnsafeMutableRawPointer? = argument
    Unmanaged<Body>.fromOpaque(pointer!).takeRetainedValue().run()
    return nil
  }
  var handle = pthread_t(bitPattern: 0)
  let failure = pthread_create(&handle, nil, run, context)
  precondition(failure == 0, "no thread can be started")
  pthread_detach(handle)
}

private final class Body {
  let run: @Sendable () -> Void
  init(_ run: @escaping @Sendable () -> Void) { self.run = run }
}

/// Seconds after which a test is said to hang; `MEMCHUNK_HANG_SECONDS` says otherwise.
public let patience = getenv("MEMCHUNK_HANG_SECONDS").flatMap { Int(String(cString: $0)) } ?? 240

/// Runs `body` on so many threads at once, each with its number, and says whether all ended: false means a hang.
///
/// The calling task suspends meanwhile, so the threads of Swift's tasks stay free. The time is only there to notice that
/// nothing happens any more.
public func ends(
  within seconds: Int = patience, onThreads count: Int = 1, _ body: @escaping @Sendable (Int) -> Void
) async -> Bool {
  let watch = Watch(count)
  let start = Gate()
  for index in 0..<count {
    startDetached {
      start.wait()
      body(index)
      watch.finishOne()
    }
  }
  start.open()
  return await watch.isDone(within: seconds)
}

/// Runs `body` as a task of its own and says whether it ended: false means a hang.
public func ends(within seconds: Int = patience, _ body: @escaping @Sendable () async -> Void) async -> Bool {
  let watch = Watch(1)
  Task {
    await body()
    watch.finishOne()
  }
  return await watch.isDone(within: seconds)
}

/// Lets other threads run.
public func yieldThread() { sched_yield() }
