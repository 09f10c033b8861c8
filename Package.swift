// swift-tools-version: 6.2
import PackageDescription

// Every target is held to the same rules. Imports are internal unless a public
// interface needs them, so that no system library leaks into a user's module.
let strict: [SwiftSetting] = [
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
]

let package = Package(
  name: "MemChunk",
  platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
  products: [
    .library(name: "MemChunks", targets: ["MemChunks"]),
    .library(name: "MemoryLimits", targets: ["MemoryLimits"]),
    .library(name: "Pictures", targets: ["Pictures"]),
    .library(name: "Cards", targets: ["Cards"]),
    .library(name: "ChunkTrace", targets: ["ChunkTrace"]),
    .executable(name: "lifecards", targets: ["lifecards-tool"]),
    .executable(name: "memchunk", targets: ["memchunk-tool"]),
  ],
  targets: [
    // The core. Builds alone: `swift build --target MemChunks` needs no system library.
    .target(name: "ChunkLedger", swiftSettings: strict),
    .target(name: "CMemChunks"),
    .target(name: "MemChunks", dependencies: ["ChunkLedger", "CMemChunks"], swiftSettings: strict),

    // The operating system's side.
    .target(name: "CMemoryLimits"),
    .target(
      name: "MemoryLimits", dependencies: ["MemChunks", "CMemChunks", "CMemoryLimits"], swiftSettings: strict),

    // Recording, replaying, advising.
    .target(name: "ChunkTrace", dependencies: ["MemChunks", "ChunkLedger"], swiftSettings: strict),

    // What a trace says, for people and programs: sentences, JSON, a page.
    .target(name: "TraceReport", dependencies: ["ChunkTrace", "MemChunks", "ToolSupport"], swiftSettings: strict),

    // Pictures and documents.
    .systemLibrary(name: "CSpng", pkgConfig: "spng", providers: [.apt(["libspng-dev"]), .brew(["libspng"])]),
    .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"]), .brew(["zlib"])]),
    .systemLibrary(name: "CExpat", pkgConfig: "expat", providers: [.apt(["libexpat1-dev"]), .brew(["expat"])]),
    // ISA-L is loaded at run time, so that neither a build nor a start needs it.
    .target(
      name: "CPNGRows", linkerSettings: [.linkedLibrary("z"), .linkedLibrary("dl", .when(platforms: [.linux]))]),
    // So is libjpeg; a build without its headers reads no JPEG.
    .target(name: "CJPEGRows", linkerSettings: [.linkedLibrary("dl", .when(platforms: [.linux]))]),
    // So are libwebp and lcms2.
    .target(name: "CWebPRows", linkerSettings: [.linkedLibrary("dl", .when(platforms: [.linux]))]),
    .target(name: "CColorProfiles", linkerSettings: [.linkedLibrary("dl", .when(platforms: [.linux]))]),
    .target(name: "CResampling"),
    .target(name: "CRowBlend"),
    .target(
      name: "Pictures",
      dependencies: ["MemChunks", "CSpng", "CPNGRows", "CJPEGRows", "CWebPRows", "CColorProfiles", "CResampling"],
      swiftSettings: strict),
    .target(name: "Cards", dependencies: ["Pictures", "CRowBlend", "CZlib", "CExpat"], swiftSettings: strict),

    // Programs.
    .target(name: "ToolSupport", swiftSettings: strict),
    .executableTarget(
      name: "lifecards-tool", dependencies: ["Cards", "ChunkTrace", "TraceReport", "ToolSupport"], swiftSettings: strict
    ),
    .executableTarget(
      name: "memchunk-tool", dependencies: ["MemoryLimits", "ChunkTrace", "TraceReport", "ToolSupport"],
      swiftSettings: strict),

    // Tests.
    .target(name: "TestSupport", dependencies: ["MemChunks"], path: "Tests/TestSupport", swiftSettings: strict),
    .target(
      name: "ChunkLedgerModel", dependencies: ["ChunkLedger"], path: "Tests/ChunkLedgerModel", swiftSettings: strict),
    .testTarget(name: "ChunkLedgerTests", dependencies: ["ChunkLedger", "ChunkLedgerModel"], swiftSettings: strict),
    .testTarget(name: "MemChunksTests", dependencies: ["MemChunks", "TestSupport"], swiftSettings: strict),
    .testTarget(
      name: "MemoryLimitsTests", dependencies: ["MemoryLimits", "TestSupport", "CMemoryLimits"], swiftSettings: strict),
    .testTarget(name: "ChunkTraceTests", dependencies: ["ChunkTrace", "TestSupport"], swiftSettings: strict),
    .target(name: "JPEGReference", path: "Tests/JPEGReference", linkerSettings: [.linkedLibrary("jpeg")]),
    .target(
      name: "PictureReference", path: "Tests/PictureReference",
      linkerSettings: [.linkedLibrary("webp"), .linkedLibrary("lcms2"), .linkedLibrary("spng")]),
    .testTarget(
      name: "PicturesTests", dependencies: ["Pictures", "TestSupport", "CSpng", "JPEGReference", "PictureReference"],
      swiftSettings: strict),
    .testTarget(
      name: "CardsTests", dependencies: ["Cards", "TestSupport", "CRowBlend", "CSpng", "CZlib"], swiftSettings: strict),
    .testTarget(
      name: "ToolTests",
      dependencies: ["Cards", "ToolSupport", "TestSupport", "ChunkTrace", "lifecards-tool", "memchunk-tool"],
      swiftSettings: strict),
  ],
  swiftLanguageModes: [.v6]
)
