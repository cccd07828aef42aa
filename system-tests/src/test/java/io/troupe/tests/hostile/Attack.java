package io.troupe.tests.hostile;

/**
 * One attack on the client port of a member. It sends its bytes, or as many as the member accepts,
 * and keeps its connections until it is closed.
 */
interface Attack {
  /** The resources of an attack after it has sent everything. */
  interface Held extends AutoCloseable {
    /** Nothing is held. */
    Held NOTHING = () -> {};

    @Override
    void close();
  }

  /**
   * Attacks.
   *
   * @param target what it attacks
   * @return to be closed
   * @throws Exception if the attack itself fails; never because the member refuses
   */
  Held on(Target target) throws Exception;
}
