package io.troupe.grpc.error;

import static io.troupe.grpc.error.GrpcStatus.DATA_LOSS;
import static io.troupe.grpc.error.GrpcStatus.FAILED_PRECONDITION;
import static io.troupe.grpc.error.GrpcStatus.INTERNAL;
import static io.troupe.grpc.error.GrpcStatus.INVALID_ARGUMENT;
import static io.troupe.grpc.error.GrpcStatus.NOT_FOUND;
import static io.troupe.grpc.error.GrpcStatus.OUT_OF_RANGE;
import static io.troupe.grpc.error.GrpcStatus.PERMISSION_DENIED;
import static io.troupe.grpc.error.GrpcStatus.RESOURCE_EXHAUSTED;
import static io.troupe.grpc.error.GrpcStatus.UNAUTHENTICATED;
import static io.troupe.grpc.error.GrpcStatus.UNAVAILABLE;
import static io.troupe.grpc.error.GrpcStatus.UNKNOWN;

import com.google.protobuf.InvalidProtocolBufferException;
import io.troupe.model.MemoryBudget;
import io.troupe.model.Refusal;
import io.troupe.protocol.RefusedException;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeoutException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The only table of codes and texts (section 3): clients recognize errors by both. */
public final class GrpcErrors {
  private static final Logger LOG = LoggerFactory.getLogger(GrpcErrors.class);

  private GrpcErrors() {}

  /** Returns code and text of a refusal. */
  public static GrpcStatus of(Refusal reason) {
    return switch (reason) {
      case KEY_NOT_PROVIDED -> status(INVALID_ARGUMENT, "etcdserver: key is not provided");
      case KEY_NOT_FOUND -> status(INVALID_ARGUMENT, "etcdserver: key not found");
      case VALUE_PROVIDED -> status(INVALID_ARGUMENT, "etcdserver: value is provided");
      case LEASE_PROVIDED -> status(INVALID_ARGUMENT, "etcdserver: lease is provided");
      case TOO_MANY_OPERATIONS ->
          status(INVALID_ARGUMENT, "etcdserver: too many operations in txn request");
      case DUPLICATE_KEY ->
          status(INVALID_ARGUMENT, "etcdserver: duplicate key given in txn request");
      case INVALID_CLIENT_API_VERSION ->
          status(INVALID_ARGUMENT, "etcdserver: invalid client api version");
      case INVALID_SORT_OPTION -> status(INVALID_ARGUMENT, "etcdserver: invalid sort option");
      case COMPACTED ->
          status(OUT_OF_RANGE, "etcdserver: mvcc: required revision has been compacted");
      case FUTURE_REVISION ->
          status(OUT_OF_RANGE, "etcdserver: mvcc: required revision is a future revision");
      case NO_SPACE -> status(RESOURCE_EXHAUSTED, "etcdserver: mvcc: database space exceeded");
      case LEASE_NOT_FOUND -> status(NOT_FOUND, "etcdserver: requested lease not found");
      case LEASE_EXISTS -> status(FAILED_PRECONDITION, "etcdserver: lease already exists");
      case LEASE_TTL_TOO_LARGE -> status(OUT_OF_RANGE, "etcdserver: too large lease TTL");
      case MEMBER_ID_EXISTS -> status(FAILED_PRECONDITION, "etcdserver: member ID already exist");
      case PEER_URL_EXISTS -> status(FAILED_PRECONDITION, "etcdserver: Peer URLs already exists");
      // UNKNOWN although etcd's table says otherwise: this is what etcd sends on the wire (M11).
      case NOT_ENOUGH_STARTED_MEMBERS ->
          status(UNKNOWN, "etcdserver: re-configuration failed due to not enough started members");
      case MEMBER_NOT_FOUND -> status(NOT_FOUND, "etcdserver: member not found");
      case NOT_A_LEARNER ->
          status(FAILED_PRECONDITION, "etcdserver: can only promote a learner member");
      case LEARNER_NOT_READY ->
          status(
              FAILED_PRECONDITION,
              "etcdserver: can only promote a learner member which is in sync with leader");
      case TOO_MANY_LEARNERS ->
          status(FAILED_PRECONDITION, "etcdserver: too many learner members in cluster");
      case REQUEST_TOO_LARGE -> status(INVALID_ARGUMENT, "etcdserver: request is too large");
      // UNKNOWN although etcd's table says otherwise: this is what etcd sends on the wire (M11).
      case TOO_MANY_REQUESTS -> status(UNKNOWN, "etcdserver: too many requests");
      case ROOT_USER_MISSING -> status(FAILED_PRECONDITION, "etcdserver: root user does not exist");
      case ROOT_ROLE_MISSING ->
          status(FAILED_PRECONDITION, "etcdserver: root user does not have root role");
      case USER_EXISTS -> status(FAILED_PRECONDITION, "etcdserver: user name already exists");
      case USER_EMPTY -> status(INVALID_ARGUMENT, "etcdserver: user name is empty");
      case USER_NOT_FOUND -> status(FAILED_PRECONDITION, "etcdserver: user name not found");
      case ROLE_EXISTS -> status(FAILED_PRECONDITION, "etcdserver: role name already exists");
      case ROLE_NOT_FOUND -> status(FAILED_PRECONDITION, "etcdserver: role name not found");
      case ROLE_EMPTY -> status(INVALID_ARGUMENT, "etcdserver: role name is empty");
      case AUTH_FAILED ->
          status(
              INVALID_ARGUMENT, "etcdserver: authentication failed, invalid user ID or password");
      case PERMISSION_NOT_GIVEN -> status(INVALID_ARGUMENT, "etcdserver: permission not given");
      case PERMISSION_DENIED -> status(PERMISSION_DENIED, "etcdserver: permission denied");
      case ROLE_NOT_GRANTED ->
          status(FAILED_PRECONDITION, "etcdserver: role is not granted to the user");
      case PERMISSION_NOT_GRANTED ->
          status(FAILED_PRECONDITION, "etcdserver: permission is not granted to the role");
      case AUTH_NOT_ENABLED ->
          status(FAILED_PRECONDITION, "etcdserver: authentication is not enabled");
      case INVALID_AUTH_TOKEN -> status(UNAUTHENTICATED, "etcdserver: invalid auth token");
      case INVALID_AUTH_MANAGEMENT ->
          status(INVALID_ARGUMENT, "etcdserver: invalid auth management");
      case AUTH_OLD_REVISION ->
          status(INVALID_ARGUMENT, "etcdserver: revision of auth store is old");
      case NO_LEADER -> status(UNAVAILABLE, "etcdserver: no leader");
      case NOT_LEADER -> status(FAILED_PRECONDITION, "etcdserver: not leader");
      case LEADER_CHANGED -> status(UNAVAILABLE, "etcdserver: leader changed");
      case STOPPED -> status(UNAVAILABLE, "etcdserver: server stopped");
      case TIMED_OUT -> status(UNAVAILABLE, "etcdserver: request timed out");
      case UNHEALTHY_CLUSTER -> status(UNAVAILABLE, "etcdserver: unhealthy cluster");
      case LEARNER -> status(FAILED_PRECONDITION, "etcdserver: rpc not supported for learner");
      case BAD_LEADER_TRANSFEREE ->
          status(FAILED_PRECONDITION, "etcdserver: bad leader transferee");
      case WRONG_DOWNGRADE_FORMAT ->
          status(INVALID_ARGUMENT, "etcdserver: wrong downgrade target version format");
      case INVALID_DOWNGRADE_TARGET ->
          status(INVALID_ARGUMENT, "etcdserver: invalid downgrade target version");
      case CLUSTER_VERSION_UNKNOWN ->
          status(FAILED_PRECONDITION, "etcdserver: cluster version not found during downgrade");
      case DOWNGRADE_IN_PROGRESS ->
          status(FAILED_PRECONDITION, "etcdserver: cluster has a downgrade job in progress");
      case NO_DOWNGRADE -> status(FAILED_PRECONDITION, "etcdserver: no inflight downgrade job");
      case CORRUPT -> status(DATA_LOSS, "etcdserver: corrupt cluster");
      case ANSWER_TOO_LARGE ->
          status(
              RESOURCE_EXHAUSTED,
              "troupe: the answer needs more memory than reads may take here;"
                  + " ask for it in pages with a limit, or by RangeStream");
      case RESPONSE_TOO_LARGE ->
          status(
              RESOURCE_EXHAUSTED,
              "troupe: the request was applied, but its response needs more memory than there is"
                  + " for responses");
      case INCOMPATIBLE_VERSION ->
          status(FAILED_PRECONDITION, "troupe: incompatible with current running cluster");
      case TOO_MANY_COMPARED ->
          status(
              RESOURCE_EXHAUSTED,
              "troupe: compares of a transaction that writes walk over too many keys;"
                  + " compare smaller ranges");
    };
  }

  private static GrpcStatus status(int code, String message) {
    return new GrpcStatus(code, message);
  }

  /**
   * Returns code and text of the failure of a call. Internal faults are logged and reach the client
   * as UNKNOWN with their text.
   */
  public static GrpcStatus of(Throwable failure) {
    Throwable cause = failure;
    while ((cause instanceof CompletionException || cause instanceof ExecutionException)
        && cause.getCause() != null) {
      cause = cause.getCause();
    }
    if (cause instanceof RefusedException refused) {
      return of(refused.reason());
    }
    if (cause instanceof MemoryBudget.Exceeded exceeded) {
      return of(exceeded.reason());
    }
    if (cause instanceof GrpcException known) {
      return known.status();
    }
    if (cause instanceof InvalidProtocolBufferException undecodable) {
      return status(INTERNAL, "grpc: error unmarshalling request: " + undecodable.getMessage());
    }
    if (cause instanceof TimeoutException) {
      return of(Refusal.TIMED_OUT);
    }
    LOG.error("request failed", cause);
    return status(UNKNOWN, String.valueOf(cause.getMessage()));
  }
}
