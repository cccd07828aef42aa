package io.troupe.bench.load;

import java.util.SplittableRandom;

/**
 * The operations of an apiserver and how often they occur, of 10,000. bench/README.md derives the
 * shares.
 */
enum KubernetesOperation {
  UPDATE_LEASE(5000),
  UPDATE_POD(1200),
  UPDATE_NODE(200),
  UPDATE_OTHER(900),
  CREATE_EVENT(1200),
  CREATE_OR_DELETE_POD(400),
  GET(800),
  LIST_NAMESPACE(150),
  LIST_RESOURCE(40),
  LIST_PODS(1),
  COUNT(109);

  private static final int TOTAL = 10_000;

  private final int share;

  KubernetesOperation(int share) {
    this.share = share;
  }

  /** How often the operation occurs, of 10,000. */
  int share() {
    return share;
  }

  /** Draws an operation. */
  static KubernetesOperation draw(SplittableRandom random) {
    int left = random.nextInt(TOTAL);
    for (KubernetesOperation operation : values()) {
      left -= operation.share;
      if (left < 0) {
        return operation;
      }
    }
    throw new IllegalStateException("the shares do not add up to " + TOTAL);
  }
}
