package io.troupe.model;

/**
 * Reason for which a request is refused. The gateway has one table with the codes and texts for
 * clients (section 3).
 */
public enum Refusal {
  /** Row 1. */
  KEY_NOT_PROVIDED,
  /** Row 2. */
  KEY_NOT_FOUND,
  /** Row 3. */
  VALUE_PROVIDED,
  /** Row 4. */
  LEASE_PROVIDED,
  /** Row 5. */
  TOO_MANY_OPERATIONS,
  /** Row 6. */
  DUPLICATE_KEY,
  /** Row 7. */
  INVALID_CLIENT_API_VERSION,
  /** Row 8. */
  INVALID_SORT_OPTION,
  /** Row 9. */
  COMPACTED,
  /** Row 10. */
  FUTURE_REVISION,
  /** Row 11. */
  NO_SPACE,
  /** Row 12. */
  LEASE_NOT_FOUND,
  /** Row 13. */
  LEASE_EXISTS,
  /** Row 14. */
  LEASE_TTL_TOO_LARGE,
  /** Row 16. */
  MEMBER_ID_EXISTS,
  /** Row 17. */
  PEER_URL_EXISTS,
  /** Row 18. */
  NOT_ENOUGH_STARTED_MEMBERS,
  /** Row 20. */
  MEMBER_NOT_FOUND,
  /** Row 21. */
  NOT_A_LEARNER,
  /** Row 22. */
  LEARNER_NOT_READY,
  /** Row 23. */
  TOO_MANY_LEARNERS,
  /** Row 25. */
  REQUEST_TOO_LARGE,
  /** Row 26. */
  TOO_MANY_REQUESTS,
  /** Row 27. */
  ROOT_USER_MISSING,
  /** Row 28. */
  ROOT_ROLE_MISSING,
  /** Row 29. */
  USER_EXISTS,
  /** Row 30. */
  USER_EMPTY,
  /** Row 31. */
  USER_NOT_FOUND,
  /** Row 32. */
  ROLE_EXISTS,
  /** Row 33. */
  ROLE_NOT_FOUND,
  /** Row 34. */
  ROLE_EMPTY,
  /** Row 35. */
  AUTH_FAILED,
  /** Row 36. */
  PERMISSION_NOT_GIVEN,
  /** Row 37. */
  PERMISSION_DENIED,
  /** Row 38. */
  ROLE_NOT_GRANTED,
  /** Row 39. */
  PERMISSION_NOT_GRANTED,
  /** Row 40. */
  AUTH_NOT_ENABLED,
  /** Row 41. */
  INVALID_AUTH_TOKEN,
  /** Row 42. */
  INVALID_AUTH_MANAGEMENT,
  /** Row 43. */
  AUTH_OLD_REVISION,
  /** Row 44. */
  NO_LEADER,
  /** Row 45. */
  NOT_LEADER,
  /** Row 46. */
  LEADER_CHANGED,
  /** Row 48. */
  STOPPED,
  /** Row 49. */
  TIMED_OUT,
  /** Row 53. */
  UNHEALTHY_CLUSTER,
  /** Row 54. */
  CORRUPT,
  /** Row 55. */
  LEARNER,
  /** Row 56. */
  BAD_LEADER_TRANSFEREE,
  /** Row 57. */
  WRONG_DOWNGRADE_FORMAT,
  /** Row 58. */
  INVALID_DOWNGRADE_TARGET,
  /** Row 59. */
  CLUSTER_VERSION_UNKNOWN,
  /** Row 60. */
  DOWNGRADE_IN_PROGRESS,
  /** Row 61. */
  NO_DOWNGRADE,
  /** Not in etcd: a read needs more memory than reads may take. */
  ANSWER_TOO_LARGE,
  /** Not in etcd: a write is applied, but its response needs more memory than is available. */
  RESPONSE_TOO_LARGE,
  /**
   * Not in etcd, only between members: the program of a joining member does not fit the cluster.
   */
  INCOMPATIBLE_VERSION,
  /** Not in etcd: the compares of a writing transaction cover too many keys. */
  TOO_MANY_COMPARED,
}
