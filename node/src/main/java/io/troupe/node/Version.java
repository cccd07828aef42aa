package io.troupe.node;

/** Which build this is. */
final class Version {
  private Version() {}

  /** Troupe's own version, from the jar's manifest. */
  static String product() {
    String version = Version.class.getPackage().getImplementationVersion();
    return version == null ? "development" : version;
  }
}
