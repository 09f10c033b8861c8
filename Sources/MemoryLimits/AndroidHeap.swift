import MemChunks
import Synchronization

/// What only an Android app's Java side knows. Not run here on Android.
///
/// The app says it once, before it makes pools:
///
///     AndroidHeap.setMemoryClass(megabytes: activityManager.memoryClass)
public enum AndroidHeap {
  private static let megabytes = Atomic<Int>(0)

  /// Says what `ActivityManager.getMemoryClass()` returned; 0 or less for nothing. May be called on any thread.
  public static func setMemoryClass(megabytes: Int) {
    self.megabytes.store(max(0, megabytes), ordering: .relaxed)
  }

  static var limits: [MemoryLimit] {
    let megabytes = megabytes.load(ordering: .relaxed)
    return megabytes > 0
      ? [MemoryLimit(kind: .heapClass, size: .megabytes(megabytes), place: "ActivityManager.getMemoryClass()")] : []
  }
}
