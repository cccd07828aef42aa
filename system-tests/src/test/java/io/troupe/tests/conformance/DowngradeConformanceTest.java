package io.troupe.tests.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import io.grpc.Status.Code;
import io.troupe.grpc.api.DowngradeInfo;
import io.troupe.grpc.api.DowngradeRequest;
import io.troupe.grpc.api.DowngradeRequest.DowngradeAction;
import io.troupe.grpc.api.DowngradeResponse;
import io.troupe.grpc.api.StatusRequest;
import io.troupe.grpc.api.StatusResponse;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Downgrade (MT11), the versions in Status and at /version (V1, V3). */
class DowngradeConformanceTest {
  @RegisterExtension static final ServedStore STORE = ServedStore.create();

  private static final String FORMAT = "etcdserver: wrong downgrade target version format";
  private static final String TARGET = "etcdserver: invalid downgrade target version";
  private static final String IN_PROGRESS = "etcdserver: cluster has a downgrade job in progress";

  private final ApiClient client = STORE.client();

  private static DowngradeRequest request(DowngradeAction action, String version) {
    return DowngradeRequest.newBuilder().setAction(action).setVersion(version).build();
  }

  private DowngradeResponse call(DowngradeAction action, String version) {
    return client.call(Api.DOWNGRADE, request(action, version));
  }

  private void refused(DowngradeAction action, String version, Code code, String text) {
    client.refused(Api.DOWNGRADE, request(action, version), code, text);
  }

  private StatusResponse status() {
    return client.call(Api.STATUS, StatusRequest.getDefaultInstance());
  }

  private void awaitStorage(String version) {
    ServedStore.await().until(() -> status().getStorageVersion().equals(version));
  }

  private String versions() {
    return new Http1(STORE.target()).get("/version").body();
  }

  @BeforeEach
  void needs37() {
    STORE.needs37();
  }

  /** CANCEL without a downgrade is accepted. */
  @AfterEach
  void cancel() {
    call(DowngradeAction.CANCEL, "");
    awaitStorage("3.7.0");
  }

  @Test
  void validateReturnsClusterVersion_MT11() {
    for (String target : new String[] {"3.6", "3.6.0", "3.6.99", "3.6.0-rc.0"}) {
      DowngradeResponse response = call(DowngradeAction.VALIDATE, target);
      assertThat(response.getVersion()).isEqualTo("3.7");
      assertThat(response.getHeader().getMemberId()).isNotZero();
      assertThat(response.getHeader().getRevision()).isPositive();
    }
    assertThat(status().getDowngradeInfo()).isEqualTo(DowngradeInfo.getDefaultInstance());
  }

  @Test
  void wrongFormatIsRefused_MT11() {
    for (DowngradeAction action :
        new DowngradeAction[] {DowngradeAction.VALIDATE, DowngradeAction.ENABLE}) {
      for (String text : new String[] {"", "3", "3.x", "v3.6", "3.6.0.0", "x", "3.6-rc"}) {
        refused(action, text, Code.INVALID_ARGUMENT, FORMAT);
      }
    }
  }

  @Test
  void otherTargetIsRefused_MT11() {
    for (DowngradeAction action :
        new DowngradeAction[] {DowngradeAction.VALIDATE, DowngradeAction.ENABLE}) {
      for (String target : new String[] {"3.5", "3.7", "3.7.0", "3.8", "4.6", "2.6"}) {
        refused(action, target, Code.INVALID_ARGUMENT, TARGET);
      }
    }
  }

  @Test
  void cancelWithoutDowngradeIsAccepted_MT11() {
    assertThat(call(DowngradeAction.CANCEL, "").getVersion()).isEqualTo("3.7");
    assertThat(call(DowngradeAction.CANCEL, "ignored").getVersion()).isEqualTo("3.7");
  }

  @Test
  void unknownActionIsRefused_MT11() {
    client.refused(
        Api.DOWNGRADE,
        DowngradeRequest.newBuilder().setActionValue(7).setVersion("3.6").build(),
        Code.UNKNOWN,
        "etcdserver: unknown method");
  }

  @Test
  void downgradeLowersVersionsUntilItIsCanceled_V3_V5() {
    assertThat(versions())
        .contains("\"etcdserver\":\"3.7.1\",\"etcdcluster\":\"3.7.0\",\"storage\":\"3.7.0\"");
    call(DowngradeAction.ENABLE, "3.6.0");
    DowngradeInfo info = status().getDowngradeInfo();
    assertThat(info.getEnabled()).isTrue();
    assertThat(info.getTargetVersion()).isEqualTo("3.6.0");
    awaitStorage("3.6.0");
    assertThat(versions())
        .contains("\"etcdserver\":\"3.7.1\",\"etcdcluster\":\"3.6.0\",\"storage\":\"3.6.0\"");
    assertThat(status().getVersion()).isEqualTo("3.7.1");
    // The target is checked before the downgrade in progress.
    refused(DowngradeAction.ENABLE, "3.6", Code.INVALID_ARGUMENT, TARGET);
    refused(DowngradeAction.VALIDATE, "3.5", Code.FAILED_PRECONDITION, IN_PROGRESS);
    refused(DowngradeAction.ENABLE, "3.5", Code.FAILED_PRECONDITION, IN_PROGRESS);
    assertThat(call(DowngradeAction.CANCEL, "").getVersion()).isEqualTo("3.6");
    awaitStorage("3.7.0");
    assertThat(status().getDowngradeInfo()).isEqualTo(DowngradeInfo.getDefaultInstance());
    assertThat(versions()).contains("\"etcdcluster\":\"3.7.0\"");
  }
}
