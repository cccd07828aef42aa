package io.troupe.protocol.codec;

import io.troupe.model.Refusal;

/** Numbers of refusals in peer messages: rows of the table of errors. Never reuse one. */
final class RefusalCodes {
  private RefusalCodes() {}

  static int codeOf(Refusal refusal) {
    return switch (refusal) {
      case KEY_NOT_PROVIDED -> 1;
      case KEY_NOT_FOUND -> 2;
      case VALUE_PROVIDED -> 3;
      case LEASE_PROVIDED -> 4;
      case TOO_MANY_OPERATIONS -> 5;
      case DUPLICATE_KEY -> 6;
      case INVALID_CLIENT_API_VERSION -> 7;
      case INVALID_SORT_OPTION -> 8;
      case COMPACTED -> 9;
      case FUTURE_REVISION -> 10;
      case NO_SPACE -> 11;
      case LEASE_NOT_FOUND -> 12;
      case LEASE_EXISTS -> 13;
      case LEASE_TTL_TOO_LARGE -> 14;
      case MEMBER_ID_EXISTS -> 16;
      case PEER_URL_EXISTS -> 17;
      case NOT_ENOUGH_STARTED_MEMBERS -> 18;
      case MEMBER_NOT_FOUND -> 20;
      case NOT_A_LEARNER -> 21;
      case LEARNER_NOT_READY -> 22;
      case TOO_MANY_LEARNERS -> 23;
      case REQUEST_TOO_LARGE -> 25;
      case TOO_MANY_REQUESTS -> 26;
      case ROOT_USER_MISSING -> 27;
      case ROOT_ROLE_MISSING -> 28;
      case USER_EXISTS -> 29;
      case USER_EMPTY -> 30;
      case USER_NOT_FOUND -> 31;
      case ROLE_EXISTS -> 32;
      case ROLE_NOT_FOUND -> 33;
      case ROLE_EMPTY -> 34;
      case AUTH_FAILED -> 35;
      case PERMISSION_NOT_GIVEN -> 36;
      case PERMISSION_DENIED -> 37;
      case ROLE_NOT_GRANTED -> 38;
      case PERMISSION_NOT_GRANTED -> 39;
      case AUTH_NOT_ENABLED -> 40;
      case INVALID_AUTH_TOKEN -> 41;
      case INVALID_AUTH_MANAGEMENT -> 42;
      case AUTH_OLD_REVISION -> 43;
      case NO_LEADER -> 44;
      case NOT_LEADER -> 45;
      case LEADER_CHANGED -> 46;
      case STOPPED -> 48;
      case TIMED_OUT -> 49;
      case UNHEALTHY_CLUSTER -> 53;
      case CORRUPT -> 54;
      case LEARNER -> 55;
      case BAD_LEADER_TRANSFEREE -> 56;
      case WRONG_DOWNGRADE_FORMAT -> 57;
      case INVALID_DOWNGRADE_TARGET -> 58;
      case CLUSTER_VERSION_UNKNOWN -> 59;
      case DOWNGRADE_IN_PROGRESS -> 60;
      case NO_DOWNGRADE -> 61;
      case ANSWER_TOO_LARGE -> 1001;
      case RESPONSE_TOO_LARGE -> 1002;
      case TOO_MANY_COMPARED -> 1003;
      case INCOMPATIBLE_VERSION -> 1004;
    };
  }

  /**
   * Returns the refusal with the given number.
   *
   * @throws IllegalArgumentException if no refusal has that number
   */
  static Refusal ofCode(int code) {
    return switch (code) {
      case 1 -> Refusal.KEY_NOT_PROVIDED;
      case 2 -> Refusal.KEY_NOT_FOUND;
      case 3 -> Refusal.VALUE_PROVIDED;
      case 4 -> Refusal.LEASE_PROVIDED;
      case 5 -> Refusal.TOO_MANY_OPERATIONS;
      case 6 -> Refusal.DUPLICATE_KEY;
      case 7 -> Refusal.INVALID_CLIENT_API_VERSION;
      case 8 -> Refusal.INVALID_SORT_OPTION;
      case 9 -> Refusal.COMPACTED;
      case 10 -> Refusal.FUTURE_REVISION;
      case 11 -> Refusal.NO_SPACE;
      case 12 -> Refusal.LEASE_NOT_FOUND;
      case 13 -> Refusal.LEASE_EXISTS;
      case 14 -> Refusal.LEASE_TTL_TOO_LARGE;
      case 16 -> Refusal.MEMBER_ID_EXISTS;
      case 17 -> Refusal.PEER_URL_EXISTS;
      case 18 -> Refusal.NOT_ENOUGH_STARTED_MEMBERS;
      case 20 -> Refusal.MEMBER_NOT_FOUND;
      case 21 -> Refusal.NOT_A_LEARNER;
      case 22 -> Refusal.LEARNER_NOT_READY;
      case 23 -> Refusal.TOO_MANY_LEARNERS;
      case 25 -> Refusal.REQUEST_TOO_LARGE;
      case 26 -> Refusal.TOO_MANY_REQUESTS;
      case 27 -> Refusal.ROOT_USER_MISSING;
      case 28 -> Refusal.ROOT_ROLE_MISSING;
      case 29 -> Refusal.USER_EXISTS;
      case 30 -> Refusal.USER_EMPTY;
      case 31 -> Refusal.USER_NOT_FOUND;
      case 32 -> Refusal.ROLE_EXISTS;
      case 33 -> Refusal.ROLE_NOT_FOUND;
      case 34 -> Refusal.ROLE_EMPTY;
      case 35 -> Refusal.AUTH_FAILED;
      case 36 -> Refusal.PERMISSION_NOT_GIVEN;
      case 37 -> Refusal.PERMISSION_DENIED;
      case 38 -> Refusal.ROLE_NOT_GRANTED;
      case 39 -> Refusal.PERMISSION_NOT_GRANTED;
      case 40 -> Refusal.AUTH_NOT_ENABLED;
      case 41 -> Refusal.INVALID_AUTH_TOKEN;
      case 42 -> Refusal.INVALID_AUTH_MANAGEMENT;
      case 43 -> Refusal.AUTH_OLD_REVISION;
      case 44 -> Refusal.NO_LEADER;
      case 45 -> Refusal.NOT_LEADER;
      case 46 -> Refusal.LEADER_CHANGED;
      case 48 -> Refusal.STOPPED;
      case 49 -> Refusal.TIMED_OUT;
      case 53 -> Refusal.UNHEALTHY_CLUSTER;
      case 54 -> Refusal.CORRUPT;
      case 55 -> Refusal.LEARNER;
      case 56 -> Refusal.BAD_LEADER_TRANSFEREE;
      case 57 -> Refusal.WRONG_DOWNGRADE_FORMAT;
      case 58 -> Refusal.INVALID_DOWNGRADE_TARGET;
      case 59 -> Refusal.CLUSTER_VERSION_UNKNOWN;
      case 60 -> Refusal.DOWNGRADE_IN_PROGRESS;
      case 61 -> Refusal.NO_DOWNGRADE;
      case 1001 -> Refusal.ANSWER_TOO_LARGE;
      case 1002 -> Refusal.RESPONSE_TOO_LARGE;
      case 1003 -> Refusal.TOO_MANY_COMPARED;
      case 1004 -> Refusal.INCOMPATIBLE_VERSION;
      default -> throw new IllegalArgumentException("unknown refusal " + code);
    };
  }
}
