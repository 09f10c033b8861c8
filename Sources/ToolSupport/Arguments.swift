/// Why a command line cannot be understood; its text is for the person who typed it.
public struct UsageError: Error, CustomStringConvertible {
  /// What is wrong, in one line.
  public let description: String

  /// Makes an error of one line of text.
  public init(_ description: String) {
    self.description = description
  }
}

/// A command line taken apart: options with and without values, and operands.
///
/// Operands stay bytes, because a file name need not be UTF-8.
public struct Arguments {
  /// What is not an option, in order.
  public let operands: [[UInt8]]
  private let values: [String: String]
  private let flags: Set<String>

  /// The arguments of this process as bytes, without the program's name.
  public static var ofProcess: [[UInt8]] {
    (1..<max(1, Int(CommandLine.argc))).compactMap { index in
      CommandLine.unsafeArgv[index].map { argument in
        Array(sequence(first: argument) { $0 + 1 }.lazy.map(\.pointee).prefix { $0 != 0 }).map { UInt8(bitPattern: $0) }
      }
    }
  }

  /// Whether help is asked for before `--`, whatever else stands there.
  public static func askForHelp(_ arguments: [[UInt8]]) -> Bool {
    arguments.prefix { $0 != Array("--".utf8) }.contains { $0 == Array("--help".utf8) || $0 == Array("-h".utf8) }
  }

  /// Takes a command line apart; options may stand anywhere before `--`.
  ///
  /// - Parameters:
  ///   - arguments: What was typed.
  ///   - flags: The options without a value, for example `--json`.
  ///   - options: The options with a value, given as `--budget 10MB` or `--budget=10MB`.
  public init(_ arguments: [[UInt8]], flags: Set<String> = [], options: Set<String> = []) throws(UsageError) {
    var operands: [[UInt8]] = []
    var values: [String: String] = [:]
    var given: Set<String> = []
    var rest = arguments[...]
    while let argument = rest.popFirst() {
      guard argument.starts(with: "-".utf8), argument.count > 1 else {
        operands.append(argument)
        continue
      }
      if argument == Array("--".utf8) {
        operands += rest
        break
      }
      let parts = argument.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
      let name = String(decoding: parts[0], as: UTF8.self)
      guard given.insert(name).inserted else { throw UsageError("\(name) is given twice") }
      if options.contains(name) {
        guard let value = parts.count == 2 ? Array(parts[1]) : rest.popFirst() else {
          throw UsageError("\(name) needs a value")
        }
        values[name] = String(decoding: value, as: UTF8.self)
      } else if !flags.contains(name) {
        throw UsageError("unknown option \(name)")
      } else if parts.count == 2 {
        throw UsageError("\(name) takes no value")
      }
    }
    self.operands = operands
    self.values = values
    self.flags = given.intersection(flags)
  }

  /// Whether an option without a value was given.
  public func has(_ flag: String) -> Bool {
    flags.contains(flag)
  }

  /// The value of an option, nil if it was not given.
  public func value(of option: String) -> String? {
    values[option]
  }

  /// The value of an option as a whole number in a range, or a default.
  public func number(of option: String, in range: ClosedRange<Int>, default standard: Int) throws(UsageError) -> Int {
    guard let text = values[option] else { return standard }
    guard let number = Int(text), range.contains(number) else {
      throw UsageError("\(option) \(text): expected a whole number from \(range.lowerBound) to \(range.upperBound)")
    }
    return number
  }

  /// The value of an option as a size in bytes, or a default.
  ///
  /// At most 2^50 bytes, so that a program may add and multiply sizes without looking out for overflow.
  public func byteCount(of option: String, default standard: Int) throws(UsageError) -> Int {
    guard let text = values[option] else { return standard }
    guard let count = parseByteCount(text), count <= 1 << 50 else {
      throw UsageError("\(option) \(text): expected a size such as 10MB, 512KB or 1.5GB, at most 1048576GB")
    }
    return count
  }
}
