package io.troupe.testkit;

import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * A {@link TroupeServer} for JUnit 5. In a static field, the server runs from before the first test
 * of the class until after the last one; in an instance field, each test has a server of its own.
 *
 * <pre>{@code
 * @RegisterExtension static final TroupeExtension troupe = TroupeExtension.singleMember();
 *
 * @Test
 * void storesKey() {
 *   try (Client client = Client.builder().endpoints(troupe.endpoint()).build()) {
 *     ...
 *   }
 * }
 * }</pre>
 */
public final class TroupeExtension
    implements BeforeAllCallback, AfterAllCallback, BeforeEachCallback, AfterEachCallback {
  private final TroupeServer.Builder builder;

  /** Guarded by this, like the server: classes, nested classes and tests that run now. */
  private int users;

  private @Nullable TroupeServer server;

  private TroupeExtension(TroupeServer.Builder builder) {
    this.builder = builder;
  }

  /** Returns an extension with one member. */
  public static TroupeExtension singleMember() {
    return of(TroupeServer.builder());
  }

  /** Returns an extension with three members. */
  public static TroupeExtension threeMembers() {
    return of(TroupeServer.builder().members(3));
  }

  /**
   * Returns an extension with servers of that builder.
   *
   * @param builder not changed afterwards
   */
  public static TroupeExtension of(TroupeServer.Builder builder) {
    return new TroupeExtension(builder);
  }

  /**
   * Returns the running server, for restarts and stops.
   *
   * @throws IllegalStateException outside of tests, or without {@code @RegisterExtension}
   */
  public synchronized TroupeServer server() {
    TroupeServer running = server;
    if (running == null) {
      throw new IllegalStateException(
          "no server runs: register TroupeExtension with @RegisterExtension and use it from tests");
    }
    return running;
  }

  /**
   * Returns the client URL of the first member, {@code http://127.0.0.1:PORT}.
   *
   * @throws IllegalStateException as {@link #server}
   * @throws TroupeServerException if a member failed
   */
  public String endpoint() {
    return server().endpoint();
  }

  /**
   * Returns the client URLs of all members.
   *
   * @return immutable
   * @throws IllegalStateException as {@link #server}
   * @throws TroupeServerException if a member failed
   */
  public List<String> endpoints() {
    return server().endpoints();
  }

  @Override
  public void beforeAll(ExtensionContext context) {
    acquire();
  }

  @Override
  public void beforeEach(ExtensionContext context) {
    acquire();
  }

  @Override
  public void afterEach(ExtensionContext context) {
    release();
  }

  @Override
  public void afterAll(ExtensionContext context) {
    release();
  }

  /** JUnit releases also after a start that failed. */
  private synchronized void acquire() {
    users++;
    if (server == null) {
      server = builder.start();
    }
  }

  private synchronized void release() {
    users--;
    TroupeServer running = server;
    if (users == 0 && running != null) {
      server = null;
      running.close();
    }
  }
}
