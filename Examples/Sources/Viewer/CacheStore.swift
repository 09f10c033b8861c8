import Foundation

/// The pictures in an `NSCache`, with its defaults. On Linux it hears of no pressure.
struct CacheStore: Store {
  private final class Drawing {
    let pixels: [UInt32]
    init(_ pixels: [UInt32]) { self.pixels = pixels }
  }

  private let cache = NSCache<NSNumber, Drawing>()
  private(set) var hits = 0

  mutating func show(_ number: Int) {
    let picture = Picture(number: number), key = NSNumber(value: number)
    let drawing: Drawing
    if let kept = cache.object(forKey: key) {
      (drawing, hits) = (kept, hits + 1)
    } else {
      drawing = Drawing(picture.drawn())
      cache.setObject(drawing, forKey: key)
    }
    precondition(drawing.pixels.withUnsafeBufferPointer { picture.isDrawn(in: $0) }, "picture \(number) is another")
  }

  var account: String { "in an NSCache" }
}
