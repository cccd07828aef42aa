package io.troupe.ctl.cli;

/** etcdctl's exit codes (CT3). */
public final class ExitCode {
  public static final int SUCCESS = 0;
  public static final int ERROR = 1;
  public static final int BAD_CONNECTION = 2;
  public static final int INVALID_INPUT = 3;
  public static final int BAD_FEATURE = 4;
  public static final int INTERRUPTED = 5;
  public static final int IO = 6;
  public static final int BAD_ARGUMENTS = 128;

  private ExitCode() {}
}
