package io.troupe.node.process;

/** Version of this build. */
public final class Version {
  private Version() {}

  /** Returns Troupe's own version, from the jar's manifest. */
  public static String product() {
    String version = Version.class.getPackage().getImplementationVersion();
    return version == null ? "development" : version;
  }
}
