package io.troupe.tests.conformance;

import static io.grpc.Status.Code.FAILED_PRECONDITION;
import static io.grpc.Status.Code.INVALID_ARGUMENT;
import static io.grpc.Status.Code.NOT_FOUND;
import static io.grpc.Status.Code.UNAUTHENTICATED;
import static org.assertj.core.api.Assertions.assertThat;

import io.grpc.MethodDescriptor;
import io.troupe.grpc.api.AlarmRequest;
import io.troupe.grpc.api.AuthStatusRequest;
import io.troupe.grpc.api.AuthUserGetRequest;
import io.troupe.grpc.api.AuthUserListRequest;
import io.troupe.grpc.api.CompactionRequest;
import io.troupe.grpc.api.LeaseGrantRequest;
import io.troupe.grpc.api.LeaseLeasesRequest;
import io.troupe.grpc.api.LeaseRevokeRequest;
import io.troupe.grpc.api.LeaseTimeToLiveRequest;
import io.troupe.grpc.api.MemberListRequest;
import io.troupe.grpc.api.StatusRequest;
import io.troupe.grpc.api.TxnRequest;
import io.troupe.grpc.api.auth.Permission;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.util.Base64;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Signed tokens (A6). The test signs them itself, so user and auth revision are arbitrary: unknown
 * users and old permissions are tested without delay.
 */
class JwtConformanceTest {
  private static final byte[] SECRET = "a secret".getBytes(StandardCharsets.UTF_8);
  private static final long END = 4_102_444_800L;

  @RegisterExtension
  static final ServedStore STORE =
      ServedStore.create()
          .with("bcrypt-cost", "4")
          .with("auth-token", "jwt,sign-method=HS256,priv-key=" + secret());

  private AuthClient anonymous = AuthClient.anonymous(STORE.client());
  private AuthClient root = anonymous;

  /** The current auth revision; a token may carry another one. */
  private long revision;

  private static Path secret() {
    try {
      Path file = Path.of("target", "jwt-conformance-secret").toAbsolutePath();
      Files.createDirectories(file.getParent());
      return Files.write(file, SECRET);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @BeforeEach
  void begin() {
    anonymous = AuthClient.anonymous(STORE.client());
    if (!anonymous.call(AuthClient.STATUS, AuthStatusRequest.getDefaultInstance()).getEnabled()) {
      anonymous.userAdd("root", "pw");
      anonymous.grantRole("root", "root");
      anonymous.userAdd("u", "pw");
      anonymous.roleAdd("r");
      anonymous.grantRole("u", "r");
      anonymous.grant("r", Permission.Type.READWRITE, "u", "v");
      anonymous.enable();
    }
    root = anonymous.login("root", "pw");
    revision = anonymous.authRevision();
  }

  private AuthClient as(String user, long ofRevision) {
    return anonymous.showing(
        token("{\"username\":\"%s\",\"revision\":%d,\"exp\":%d}".formatted(user, ofRevision, END)));
  }

  private static String token(String claims) {
    String signed = base64("{\"alg\":\"HS256\",\"typ\":\"JWT\"}") + "." + base64(claims);
    try {
      Mac mac = Mac.getInstance("HmacSHA256");
      mac.init(new SecretKeySpec(SECRET, "HmacSHA256"));
      return signed + "." + base64(mac.doFinal(signed.getBytes(StandardCharsets.UTF_8)));
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException(e);
    }
  }

  private static String base64(String text) {
    return base64(text.getBytes(StandardCharsets.UTF_8));
  }

  private static String base64(byte[] bytes) {
    return Base64.getUrlEncoder().withoutPadding().encodeToString(bytes);
  }

  private static <Q, R> void old(AuthClient client, MethodDescriptor<Q, R> method, Q request) {
    client.refused(method, request, INVALID_ARGUMENT, "etcdserver: revision of auth store is old");
  }

  private long lease() {
    return root.call(Api.GRANT, LeaseGrantRequest.newBuilder().setTTL(600).build()).getID();
  }

  private static LeaseTimeToLiveRequest withKeys(long lease) {
    return LeaseTimeToLiveRequest.newBuilder().setID(lease).setKeys(true).build();
  }

  private static LeaseRevokeRequest revoke(long lease) {
    return LeaseRevokeRequest.newBuilder().setID(lease).build();
  }

  private static void renews(AuthClient client, long lease, long ttl) {
    try (KeepAliveStream renewals = new KeepAliveStream(client.channel())) {
      assertThat(renewals.renew(lease).getTTL()).isEqualTo(ttl);
    }
  }

  @Test
  void rootMayUseAllLeasesWithOldToken_A6_L14() {
    AuthClient old = as("root", revision - 1);
    long lease = lease();
    root.call(Api.PUT, Requests.put("x", "1").setLease(lease).build());
    old(old, Api.RANGE, Requests.get("x").build());
    renews(old, lease, 600);
    renews(old, 77, 0);
    assertThat(old.call(Api.TIME_TO_LIVE, withKeys(lease)).getKeysList())
        .containsExactly(Requests.bytes("x"));
    assertThat(old.call(Api.LEASES, LeaseLeasesRequest.getDefaultInstance()).getLeasesList())
        .isNotEmpty();
    old.refused(Api.REVOKE, revoke(77), NOT_FOUND, "etcdserver: requested lease not found");
    old.call(Api.REVOKE, revoke(lease));
  }

  @Test
  void leaseWithoutKeysNeedsNoPermission_L14() {
    long lease = lease();
    for (AuthClient anyone : new AuthClient[] {as("u", revision - 1), as("gone", revision)}) {
      renews(anyone, lease, 600);
      renews(anyone, 77, 0);
      assertThat(anyone.call(Api.TIME_TO_LIVE, withKeys(lease)).getKeysList()).isEmpty();
      assertThat(anyone.call(Api.TIME_TO_LIVE, withKeys(77)).getTTL()).isEqualTo(-1);
      anyone.refused(Api.REVOKE, revoke(77), NOT_FOUND, "etcdserver: requested lease not found");
      anyone.call(Api.REVOKE, revoke(lease()));
    }
    root.call(Api.PUT, Requests.put("u", "1").setLease(lease).build());
    AuthClient old = as("u", revision - 1);
    old(old, Api.TIME_TO_LIVE, withKeys(lease));
    old(old, Api.REVOKE, revoke(lease));
    old(old, Api.LEASES, LeaseLeasesRequest.getDefaultInstance());
    try (KeepAliveStream renewals = new KeepAliveStream(old.channel())) {
      renewals.send(lease);
      assertThat(renewals.finish().getDescription())
          .isEqualTo("etcdserver: revision of auth store is old");
    }
    as("gone", revision).denied(Api.REVOKE, revoke(lease));
    as("u", revision).call(Api.REVOKE, revoke(lease));
  }

  @Test
  void validTokenSufficesWhereAnyUserIsAllowed_L14_M9_MT2_MT3() {
    for (String user : new String[] {"gone", ""}) {
      AuthClient client = as(user, revision);
      client.call(Api.STATUS, StatusRequest.getDefaultInstance());
      client.call(Api.ALARM, AlarmRequest.getDefaultInstance());
      client.call(Api.MEMBER_LIST, MemberListRequest.getDefaultInstance());
      client.call(Api.MEMBER_LIST, MemberListRequest.newBuilder().setLinearizable(true).build());
      long lease =
          client.call(Api.GRANT, LeaseGrantRequest.newBuilder().setTTL(600).build()).getID();
      client.call(Api.TIME_TO_LIVE, LeaseTimeToLiveRequest.newBuilder().setID(lease).build());
      client.call(Api.REVOKE, revoke(lease));
      client.denied(Api.RANGE, Requests.get("u").build());
      client.denied(Api.PUT, Requests.put("u", "1").build());
    }
    as("gone", revision)
        .refused(
            AuthClient.USER_LIST,
            AuthUserListRequest.getDefaultInstance(),
            FAILED_PRECONDITION,
            "etcdserver: user name not found");
  }

  @Test
  void emptyUserNameIsRefusedForRootMethods_A13() {
    AuthClient nameless = as("", revision);
    nameless.nameless(AuthClient.USER_LIST, AuthUserListRequest.getDefaultInstance());
    nameless.nameless(Api.COMPACT, CompactionRequest.newBuilder().setRevision(1).build());
    nameless.refused(
        AuthClient.USER_GET,
        AuthUserGetRequest.getDefaultInstance(),
        FAILED_PRECONDITION,
        "etcdserver: user name not found");
  }

  @Test
  void tokenWithoutExpiryNeverExpires_A6() {
    String claims = "{\"username\":\"u\",\"revision\":" + revision + "%s}";
    anonymous.showing(token(claims.formatted(""))).call(Api.RANGE, Requests.get("u").build());
    anonymous
        .showing(token(claims.formatted(",\"exp\":1000000000")))
        .refused(
            Api.RANGE,
            Requests.get("u").build(),
            UNAUTHENTICATED,
            "etcdserver: invalid auth token");
  }

  @Test
  void tokenWithRevisionZeroNamesNoUser_A6() {
    AuthClient zero = as("root", 0);
    zero.nameless(Api.RANGE, Requests.get("u").build());
    zero.nameless(Api.PUT, Requests.put("u", "1").build());
    zero.call(AuthClient.USER_LIST, AuthUserListRequest.getDefaultInstance());
    try (WatchStream watch = new WatchStream(zero.channel())) {
      assertThat(watch.create(Requests.watch("u")).getCancelReason())
          .isEqualTo("rpc error: code = InvalidArgument desc = etcdserver: user name is empty");
    }
  }

  @Test
  void futureRevisionMayWriteButNotRead_A6() {
    AuthClient future = as("u", revision + 1);
    future.call(Api.PUT, Requests.put("u", "1").build());
    old(future, Api.RANGE, Requests.get("u").build());
    old(future, Api.TXN, Requests.txn(Requests.op(Requests.get("u"))).build());
    future.denied(Api.RANGE, Requests.get("x").build());
  }

  @Test
  void emptyTransactionNeedsNoPermission_A3_X14() {
    for (AuthClient client : new AuthClient[] {anonymous, as("gone", revision), as("", revision)}) {
      assertThat(client.call(Api.TXN, TxnRequest.getDefaultInstance()).getSucceeded()).isTrue();
    }
    old(as("u", revision - 1), Api.TXN, TxnRequest.getDefaultInstance());
    anonymous.nameless(Api.TXN, Requests.txn(Requests.op(Requests.get("u"))).build());
    anonymous
        .showing("rubbish")
        .refused(
            Api.TXN,
            TxnRequest.getDefaultInstance(),
            UNAUTHENTICATED,
            "etcdserver: invalid auth token");
  }
}
