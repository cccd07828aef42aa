package io.troupe.ctl.print;

import io.troupe.ctl.cli.Console;
import io.troupe.ctl.cli.CtlException;
import io.troupe.ctl.cli.ExitCode;

/** Selects the output mode. */
public final class Printers {
  private Printers() {}

  /**
   * @param mode the value of {@code --write-out}
   * @throws CtlException if the mode is unknown
   */
  public static Printer of(String mode, boolean hex, Console console) {
    return switch (mode) {
      case "simple" -> new SimplePrinter(console, hex, false);
      case "json" -> new JsonPrinter(console, hex);
      case "fields" -> new FieldsPrinter(console, hex);
      case "protobuf" -> new ProtobufPrinter(console);
      case "table" -> new TablePrinter(console);
      default -> throw new CtlException(ExitCode.BAD_FEATURE, "unsupported output format");
    };
  }

  /** Whether the mode is for people. */
  public static boolean isSimple(Printer printer) {
    return printer instanceof SimplePrinter;
  }

  /** Whether the mode prints one line for each field. */
  public static boolean isFields(Printer printer) {
    return printer instanceof FieldsPrinter;
  }
}
