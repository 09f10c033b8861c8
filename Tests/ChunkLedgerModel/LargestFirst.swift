package import ChunkLedger

/// An order that is not by recency: the largest chunk goes first, among equals the least recently used.
package struct LargestFirst: EvictOrder {
  package init() {}

  package func key(for use: ChunkUse, size: Int) -> UInt64 { (0x7fff_ffff - UInt64(size)) << 32 + use.stamp }
  package mutating func chose(key: UInt64) {}
  package var followsRecency: Bool { false }
}
