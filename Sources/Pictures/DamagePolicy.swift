/// What becomes of a picture whose file is cut off or damaged.
public enum DamagePolicy: Sendable, Hashable {
  /// Reading it is an error.
  case refuse
  /// What can be decoded is given out, with a warning; what cannot is transparent.
  case showWhatThereIs
}
