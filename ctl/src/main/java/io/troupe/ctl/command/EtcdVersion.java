package io.troupe.ctl.command;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.Properties;

/**
 * The version of etcd's API that this build has: that of the etcdctl whose commands and output this
 * program has, and that of a member. The build writes it into a resource.
 */
record EtcdVersion(String complete) {
  private static final String RESOURCE = "/troupe-ctl.properties";

  /** The version of this build. */
  static EtcdVersion ofBuild() {
    Properties build = new Properties();
    try (InputStream in = EtcdVersion.class.getResourceAsStream(RESOURCE)) {
      if (in != null) {
        build.load(in);
      }
    } catch (IOException broken) {
      throw new UncheckedIOException(broken);
    }
    return new EtcdVersion(build.getProperty("etcd-version", "unknown"));
  }

  /** Major and minor version, such as {@code 3.7}. */
  String api() {
    return complete.replaceFirst("\\.[^.]*$", "");
  }
}
