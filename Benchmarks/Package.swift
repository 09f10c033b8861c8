// swift-tools-version: 6.2
import PackageDescription

// Speed is measured here and never in the test suite. The rivals are Foundation's NSCache and what people write
// by hand: a dictionary behind a mutex. For rows of PNG files it is libspng; for those of JPEG files, djpeg; for a
// viewer, Qt's QPixmapCache.
let package = Package(
  name: "Benchmarks",
  platforms: [.macOS(.v15)],
  dependencies: [.package(name: "MemChunk", path: "..")],
  targets: [
    .executableTarget(
      name: "CoreBenchmarks",
      dependencies: [
        .product(name: "MemChunks", package: "MemChunk"), .product(name: "ChunkTrace", package: "MemChunk"),
      ],
      swiftSettings: [
        .enableUpcomingFeature("ExistentialAny"), .enableUpcomingFeature("InternalImportsByDefault"),
      ]),
    .executableTarget(
      name: "JPEGBenchmarks",
      dependencies: [
        .product(name: "MemChunks", package: "MemChunk"), .product(name: "Pictures", package: "MemChunk"),
      ],
      swiftSettings: [
        .enableUpcomingFeature("ExistentialAny"), .enableUpcomingFeature("InternalImportsByDefault"),
      ]),
    .executableTarget(
      name: "PictureSessions",
      dependencies: [
        .product(name: "MemChunks", package: "MemChunk"), .product(name: "ChunkTrace", package: "MemChunk"),
        .product(name: "Pictures", package: "MemChunk"),
      ],
      swiftSettings: [
        .enableUpcomingFeature("ExistentialAny"), .enableUpcomingFeature("InternalImportsByDefault"),
      ]),
    .systemLibrary(name: "CHeap"),
    .executableTarget(
      name: "SystemBenchmarks",
      dependencies: [
        "CHeap", .product(name: "MemChunks", package: "MemChunk"), .product(name: "MemoryLimits", package: "MemChunk"),
      ]),
    .executableTarget(
      name: "ViewerBenchmarks",
      dependencies: [
        .product(name: "MemChunks", package: "MemChunk"), .product(name: "Pictures", package: "MemChunk"),
      ],
      swiftSettings: [
        .enableUpcomingFeature("ExistentialAny"), .enableUpcomingFeature("InternalImportsByDefault"),
      ]),
    .executableTarget(
      name: "RowBenchmarks",
      // Of Cards only the inner loops of blending, which come with it.
      dependencies: [
        "CHeap", .product(name: "Pictures", package: "MemChunk"), .product(name: "Cards", package: "MemChunk"),
      ],
      swiftSettings: [
        .enableUpcomingFeature("ExistentialAny"), .enableUpcomingFeature("InternalImportsByDefault"),
      ]),
  ],
  swiftLanguageModes: [.v6]
)
