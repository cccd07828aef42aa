package io.troupe.testing;

import java.io.IOException;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * A test that mounts file systems or creates namespaces, which only root may do. It is part of the
 * profile {@code full}, and fails with one line if the user is not root.
 */
@Target({ElementType.TYPE, ElementType.METHOD})
@Retention(RetentionPolicy.RUNTIME)
@Tag("full")
@ExtendWith(NeedsRoot.Check.class)
public @interface NeedsRoot {
  /** Fails the class or the method before its own set-up runs. */
  final class Check implements BeforeAllCallback, BeforeEachCallback {
    @Override
    public void beforeAll(ExtensionContext context) throws IOException {
      requireRoot();
    }

    @Override
    public void beforeEach(ExtensionContext context) throws IOException {
      requireRoot();
    }

    private static void requireRoot() throws IOException {
      if ((int) Files.getAttribute(Path.of("/proc/self"), "unix:uid") != 0) {
        throw new AssertionError(
            "this test mounts file systems or creates namespaces: run it as root");
      }
    }
  }
}
