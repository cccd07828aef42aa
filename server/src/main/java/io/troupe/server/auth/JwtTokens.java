package io.troupe.server.auth;

import io.troupe.auth.AuthState;
import io.troupe.grpc.error.GrpcException;
import io.troupe.grpc.error.GrpcStatus;
import io.troupe.model.Operation;
import io.troupe.model.Requester;
import io.troupe.model.Result;
import java.security.Key;
import java.time.Clock;
import java.util.List;
import org.jose4j.jwa.AlgorithmConstraints;
import org.jose4j.jws.JsonWebSignature;
import org.jose4j.jwt.JwtClaims;
import org.jose4j.jwt.MalformedClaimException;
import org.jose4j.jwt.NumericDate;
import org.jose4j.jwt.consumer.InvalidJwtException;
import org.jose4j.jwt.consumer.JwtConsumer;
import org.jose4j.jwt.consumer.JwtConsumerBuilder;
import org.jose4j.lang.JoseException;
import org.jspecify.annotations.Nullable;

/**
 * Signed tokens (A6): each member that has the key verifies them without stored state. A token
 * becomes invalid when the auth revision changes from the one in the token.
 */
public final class JwtTokens implements Tokens {
  private static final String USER = "username";
  private static final String REVISION = "revision";

  private final JwtSettings settings;
  private final JwtKeys keys;
  private final Clock clock;

  /**
   * Loads the keys.
   *
   * @throws IllegalArgumentException with etcd's text if the settings or keys are invalid
   */
  JwtTokens(JwtSettings settings, Clock clock) {
    this.settings = settings;
    this.keys = JwtKeys.load(settings);
    this.clock = clock;
    if (keys.signing() != null
        && find(signed(claims("", 1)), new AuthState(true, 1, List.of(), List.of())) == null) {
      throw new IllegalArgumentException("auth: public and private keys don't match");
    }
  }

  /**
   * Issues a token.
   *
   * @param authRevision auth revision of the state against which the password was checked
   * @throws GrpcException if there is no signing key
   */
  public String sign(String user, long authRevision) {
    JwtClaims claims = claims(user, authRevision);
    claims.setExpirationTime(
        NumericDate.fromMilliseconds(clock.instant().plus(settings.ttl()).toEpochMilli()));
    return signed(claims);
  }

  private static JwtClaims claims(String user, long authRevision) {
    JwtClaims claims = new JwtClaims();
    claims.setStringClaim(USER, user);
    claims.setClaim(REVISION, authRevision);
    return claims;
  }

  private String signed(JwtClaims claims) {
    Key signing = keys.signing();
    if (signing == null) {
      throw new GrpcException(
          GrpcStatus.UNKNOWN, "auth: token signing attempted with verify-only key");
    }
    JsonWebSignature signature = new JsonWebSignature();
    signature.setPayload(claims.toJson());
    signature.setAlgorithmHeaderValue(settings.method());
    signature.setKey(signing);
    signature.setDoKeyValidation(false);
    try {
      return signature.getCompactSerialization();
    } catch (JoseException e) {
      throw new IllegalArgumentException("auth: a token cannot be signed: " + e.getMessage(), e);
    }
  }

  /** A token without an expiration time never expires. */
  @Override
  public Requester.@Nullable User find(String token, AuthState state) {
    JwtConsumer consumer =
        new JwtConsumerBuilder()
            .setJwsAlgorithmConstraints(
                AlgorithmConstraints.ConstraintType.PERMIT, settings.method())
            .setVerificationKey(keys.verifying())
            .setRelaxVerificationKeyValidation()
            .setSkipDefaultAudienceValidation()
            .setEvaluationTime(NumericDate.fromMilliseconds(clock.millis()))
            .build();
    try {
      JwtClaims claims = consumer.processToClaims(token);
      String user = claims.getClaimValue(USER, String.class);
      Number revision = claims.getClaimValue(REVISION, Number.class);
      return user == null || revision == null
          ? null
          : new Requester.User(user, revision.longValue());
    } catch (InvalidJwtException | MalformedClaimException invalid) {
      return null;
    }
  }

  @Override
  public boolean mayStillCome(String token, long applied) {
    return false;
  }

  @Override
  public void opened() {}

  @Override
  public void applied(Operation.Auth operation, Result result) {}
}
