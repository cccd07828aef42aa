package io.troupe.ctl;

import com.google.protobuf.ByteString;
import io.troupe.ctl.cli.Console;
import io.troupe.ctl.text.RawArguments;
import java.io.FileDescriptor;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** The program {@code ctl}. */
public final class CtlMain {
  private static final char REPLACEMENT = '\ufffd';

  private CtlMain() {}

  public static void main(String[] args) {
    Console console =
        new Console(
            new FileInputStream(FileDescriptor.in),
            new FileOutputStream(FileDescriptor.out),
            new FileOutputStream(FileDescriptor.err),
            System.getenv(),
            "1".equals(System.getenv("TROUPE_CTL_TERMINAL")),
            true);
    System.exit(new Ctl(console).run(arguments(args)));
  }

  /** The JVM replaces bytes that are not UTF-8; the kernel still has them. */
  private static List<String> arguments(String[] args) {
    List<String> given = Arrays.asList(args);
    if (given.stream().noneMatch(arg -> arg.indexOf(REPLACEMENT) >= 0)) {
      return given;
    }
    try {
      ByteString line = ByteString.copyFrom(Files.readAllBytes(Path.of("/proc/self/cmdline")));
      List<String> all = new ArrayList<>();
      int start = 0;
      for (int at = 0; at < line.size(); at++) {
        if (line.byteAt(at) == 0) {
          all.add(RawArguments.decode(line.substring(start, at)));
          start = at + 1;
        }
      }
      return all.size() < args.length ? given : all.subList(all.size() - args.length, all.size());
    } catch (IOException e) {
      // Not Linux: the replaced text is all there is.
      return given;
    }
  }
}
