package io.troupe.node.process;

import io.troupe.model.EtcdVersion;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.Properties;

/** Version of this build. The build writes it into a resource. */
public final class Version {
  private static final String RESOURCE = "/troupe-build.properties";
  private static final Properties BUILD = read();

  private Version() {}

  /** Returns Troupe's own version, for example {@code 0.1.0}. */
  public static String product() {
    return value("version");
  }

  /** Returns the abbreviated id of the commit, {@code unknown} if it was built without git. */
  public static String commit() {
    return value("commit");
  }

  /** Returns the commit's date in UTC, as 2026-01-31; {@code unknown} as above. */
  public static String commitDate() {
    return value("commit-date");
  }

  /**
   * Returns the version of etcd's API that this program serves. The build property {@code
   * troupe.etcd-version} makes a program that acts as an older one.
   */
  public static EtcdVersion etcd() {
    return EtcdVersion.parse(value("etcd-version"));
  }

  /** Returns the line that {@code --version} prints. */
  public static String line() {
    return "Troupe "
        + product()
        + " ("
        + commit()
        + ", "
        + commitDate()
        + "), serves etcd API "
        + etcd();
  }

  private static String value(String key) {
    return BUILD.getProperty(key, "unknown");
  }

  private static Properties read() {
    Properties build = new Properties();
    try (InputStream in = Version.class.getResourceAsStream(RESOURCE)) {
      if (in != null) {
        build.load(in);
      }
    } catch (IOException broken) {
      throw new UncheckedIOException(broken);
    }
    return build;
  }
}
