package io.troupe.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.platform.launcher.LauncherDiscoveryRequest;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;
import org.junit.platform.launcher.listeners.SummaryGeneratingListener;
import org.junit.platform.launcher.listeners.TestExecutionSummary;

/** The extension in test classes that JUnit runs. */
class TroupeExtensionTest {
  /** Prevents that the build runs the classes below on their own. */
  private static final String INSIDE = "troupe.testkit.inside";

  private static final List<String> ENDPOINTS = Collections.synchronizedList(new ArrayList<>());

  @EnabledIfSystemProperty(named = INSIDE, matches = "true")
  @TestMethodOrder(MethodOrderer.OrderAnnotation.class)
  static class OfClass {
    @RegisterExtension static final TroupeExtension troupe = TroupeExtension.singleMember();

    @Test
    @Order(1)
    void writes() {
      ENDPOINTS.add(troupe.endpoint());
      try (TestClient client = new TestClient(troupe.endpoint())) {
        client.put("key", "value");
      }
    }

    @Test
    @Order(2)
    void readsKeyOfEarlierTest() {
      ENDPOINTS.add(troupe.endpoint());
      try (TestClient client = new TestClient(troupe.endpoint())) {
        assertThat(client.get("key")).containsExactly("value");
      }
    }

    @Nested
    class Inner {
      @Test
      void usesTheSameServer() {
        ENDPOINTS.add(troupe.server().endpoint());
      }
    }
  }

  @EnabledIfSystemProperty(named = INSIDE, matches = "true")
  static class OfTest {
    @RegisterExtension final TroupeExtension troupe = TroupeExtension.singleMember();

    @Test
    void first() {
      useFreshServer();
    }

    @Test
    void second() {
      useFreshServer();
    }

    private void useFreshServer() {
      try (TestClient client = new TestClient(troupe.endpoint())) {
        assertThat(client.get("key")).isEmpty();
        client.put("key", "value");
      }
    }
  }

  @EnabledIfSystemProperty(named = INSIDE, matches = "true")
  static class OfWrongSetting {
    @RegisterExtension
    static final TroupeExtension TROUPE =
        TroupeExtension.of(TroupeServer.builder().setting("troupe.unknown", "1"));

    @Test
    void neverRuns() {
      ENDPOINTS.add("never");
    }
  }

  private static TestExecutionSummary run(Class<?> tests) {
    ENDPOINTS.clear();
    LauncherDiscoveryRequest request =
        LauncherDiscoveryRequestBuilder.request().selectors(selectClass(tests)).build();
    SummaryGeneratingListener listener = new SummaryGeneratingListener();
    System.setProperty(INSIDE, "true");
    try {
      LauncherFactory.create().execute(request, listener);
    } finally {
      System.clearProperty(INSIDE);
    }
    assertThat(Remains.directories()).isEmpty();
    return listener.getSummary();
  }

  @Test
  void staticFieldHasOneServerForAllTests() {
    TestExecutionSummary summary = run(OfClass.class);
    assertThat(summary.getFailures()).isEmpty();
    assertThat(summary.getTestsSucceededCount()).isEqualTo(3);
    assertThat(ENDPOINTS).hasSize(3).containsOnly(ENDPOINTS.get(0));
  }

  @Test
  void instanceFieldHasServerForEachTest() {
    TestExecutionSummary summary = run(OfTest.class);
    assertThat(summary.getFailures()).isEmpty();
    assertThat(summary.getTestsSucceededCount()).isEqualTo(2);
  }

  @Test
  void failedStartFailsTheClass() {
    TestExecutionSummary summary = run(OfWrongSetting.class);
    assertThat(summary.getFailures()).hasSize(1);
    assertThat(summary.getFailures().get(0).getException())
        .isInstanceOf(TroupeServerException.class)
        .hasMessageContaining("unknown key troupe.unknown");
    assertThat(ENDPOINTS).isEmpty();
  }

  @Test
  void useOutsideOfTestsIsRefused() {
    assertThatThrownBy(() -> TroupeExtension.threeMembers().endpoint())
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("register TroupeExtension with @RegisterExtension");
  }
}
