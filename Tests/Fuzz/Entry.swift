// What libFuzzer calls, the same for every target. A target is a file beside this one that has `fuzzSeeds()`, the inputs
// to begin with, and `fuzz(_:)`, which must return normally for any bytes. `scripts/fuzz` puts them together.
#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// Writes the seeds into the directory that `MEMCHUNK_FUZZ_SEEDS` names, before libFuzzer looks into it.
@_cdecl("LLVMFuzzerInitialize")
public func fuzzerInitialize(_ count: UnsafeMutableRawPointer, _ arguments: UnsafeMutableRawPointer) -> CInt {
  guard let directory = getenv("MEMCHUNK_FUZZ_SEEDS") else { return 0 }
  for (index, seed) in fuzzSeeds().enumerated() {
    guard let file = fopen("\(String(cString: directory))/seed-\(index)", "wb") else {
      fatalError("seeds cannot be written to \(String(cString: directory))")
    }
    fwrite(seed, 1, seed.count, file)
    fclose(file)
  }
  return 0
}

/// Tries one input.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzerTestOneInput(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  fuzz(Array(UnsafeBufferPointer(start: bytes, count: count)))
  return 0
}
