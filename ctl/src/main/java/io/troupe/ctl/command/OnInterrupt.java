package io.troupe.ctl.command;

/**
 * Work that must be done if the user or the service manager stops the program, such as the release
 * of a lock. The program then exits with status 0, as etcdctl does.
 */
final class OnInterrupt implements AutoCloseable {
  private final Thread hook;

  private OnInterrupt(Thread hook) {
    this.hook = hook;
  }

  /**
   * @param work runs if the program is stopped before {@link #close}
   */
  static OnInterrupt run(Runnable work) {
    Thread hook =
        new Thread(
            () -> {
              work.run();
              Runtime.getRuntime().halt(0);
            },
            "on-interrupt");
    Runtime.getRuntime().addShutdownHook(hook);
    return new OnInterrupt(hook);
  }

  /** The program continues or ends by itself. */
  @Override
  public void close() {
    try {
      Runtime.getRuntime().removeShutdownHook(hook);
    } catch (IllegalStateException e) {
      // The program is being stopped: the hook runs, and ends the program.
      await();
    }
  }

  private void await() {
    try {
      hook.join();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
