import MemChunks
import Pictures
import ToolSupport

/// What came of making thumbnails, for people and as JSON.
struct ThumbnailReport {
  /// A thumbnail that has been made.
  struct Made {
    var width: Int
    var height: Int
    var warning: PictureError?
  }

  var pool: PoolStatistics
  var threads: Int
  var seconds: Double
  /// The most memory the process had resident, in bytes; nil where the system does not say.
  var residentPeak: Int?
  var files: [(input: BytePath, output: BytePath, outcome: Result<Made, any Error>)]

  var failureCount: Int { files.count { if case .failure = $0.outcome { true } else { false } } }

  /// What is said of files that could not be read, or only in part; each names its file.
  var complaints: [String] {
    files.compactMap { file in
      switch file.outcome {
      case .success(let made): made.warning.map { "\($0); took what there is" }
      case .failure(let error): Lifecards.text(of: error)
      }
    }
  }

  var text: String {
    """
    \(files.count - failureCount) made, \(failureCount) failed
      threads        \(threads)
      budget         \(megabytes(pool.budget))
      peak counted   \(megabytes(pool.peak))
      peak resident  \(residentPeak.map(megabytes) ?? "unknown on this system")
      time           \(Double(Int(seconds * 100)) / 100) s

    """
  }

  var json: JSON {
    .object([
      ("made", .integer(files.count - failureCount)),
      ("failed", .integer(failureCount)),
      ("threads", .integer(threads)),
      ("budgetBytes", .integer(pool.budget)),
      ("peakCountedBytes", .integer(pool.peak)),
      ("peakResidentBytes", residentPeak.map(JSON.integer) ?? .null),
      ("generations", .integer(pool.generations)),
      ("generatedBytes", .integer(pool.bytesGenerated)),
      ("frees", .integer(pool.frees)),
      ("seconds", .number(seconds)),
      ("files", .array(files.map(json))),
    ])
  }

  private func json(_ file: (input: BytePath, output: BytePath, outcome: Result<Made, any Error>)) -> JSON {
    switch file.outcome {
    case .success(let made):
      .object([
        ("input", .string(file.input.description)), ("output", .string(file.output.description)),
        ("width", .integer(made.width)), ("height", .integer(made.height)),
        ("warning", made.warning.map { .string($0.description) } ?? .null),
      ])
    case .failure(let error):
      .object([("input", .string(file.input.description)), ("error", .string(Lifecards.text(of: error)))])
    }
  }
}
