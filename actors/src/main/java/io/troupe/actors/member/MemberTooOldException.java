package io.troupe.actors.member;

/**
 * This program is older than the data or the cluster of the member (V2). The message names both
 * versions and the next step of the operator.
 */
public final class MemberTooOldException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  MemberTooOldException(String reason) {
    super(reason);
  }
}
