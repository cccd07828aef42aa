package io.troupe.node;

/** Version of this build. */
final class Version {
  private Version() {}

  /** Returns Troupe's own version, from the jar's manifest. */
  static String product() {
    String version = Version.class.getPackage().getImplementationVersion();
    return version == null ? "development" : version;
  }
}
