// swift-tools-version: 6.2
import PackageDescription

let core: Target.Dependency = .product(name: "MemChunks", package: "MemChunk")
let limits: Target.Dependency = .product(name: "MemoryLimits", package: "MemChunk")

let package = Package(
  name: "Examples",
  platforms: [.macOS(.v15)],
  dependencies: [.package(name: "MemChunk", path: "..")],
  targets: [
    .executableTarget(name: "QuickStart", dependencies: [core]),
    .executableTarget(name: "Toolbar", dependencies: [core]),
    .executableTarget(name: "Album", dependencies: [core]),
    .executableTarget(name: "Viewer", dependencies: [core, limits]),
    .executableTarget(name: "Watcher", dependencies: [core, limits]),
  ],
  swiftLanguageModes: [.v6]
)
