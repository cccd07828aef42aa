package io.troupe.model;

import java.util.Comparator;

/**
 * A version of etcd's API and data: of a server ({@code 3.7.1}), or of a cluster or a storage
 * ({@code 3.7.0}, whose patch has no meaning). Numbers are 0 or more.
 */
public record EtcdVersion(long major, long minor, long patch) implements Comparable<EtcdVersion> {
  private static final Comparator<EtcdVersion> ORDER =
      Comparator.comparingLong(EtcdVersion::major)
          .thenComparingLong(EtcdVersion::minor)
          .thenComparingLong(EtcdVersion::patch);

  /** Checks the numbers. */
  public EtcdVersion {
    if (major < 0 || minor < 0 || patch < 0) {
      throw new IllegalArgumentException("negative number in a version");
    }
  }

  /**
   * Parses the form {@code 3.7.1}.
   *
   * @throws IllegalArgumentException if the text has another form
   */
  public static EtcdVersion parse(String text) {
    String[] parts = text.split("\\.", -1);
    if (parts.length != 3) {
      throw new IllegalArgumentException("a version has the form 3.7.1, not \"" + text + "\"");
    }
    try {
      return new EtcdVersion(number(parts[0]), number(parts[1]), number(parts[2]));
    } catch (NumberFormatException noNumber) {
      throw new IllegalArgumentException(
          "a version has the form 3.7.1, not \"" + text + "\"", noNumber);
    }
  }

  private static long number(String digits) {
    if (digits.isEmpty() || !digits.chars().allMatch(c -> c >= '0' && c <= '9')) {
      throw new NumberFormatException(digits);
    }
    return Long.parseLong(digits);
  }

  /** The same major and minor version with patch 0: the form of cluster and storage versions. */
  public EtcdVersion withoutPatch() {
    return patch == 0 ? this : new EtcdVersion(major, minor, 0);
  }

  /** Major and minor version only, such as {@code 3.7}. */
  public String shortText() {
    return major + "." + minor;
  }

  @Override
  public int compareTo(EtcdVersion other) {
    return ORDER.compare(this, other);
  }

  /** The form {@code 3.7.1}. */
  @Override
  public String toString() {
    return major + "." + minor + "." + patch;
  }
}
