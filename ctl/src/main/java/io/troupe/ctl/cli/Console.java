package io.troupe.ctl.cli;

import com.google.protobuf.ByteString;
import java.io.BufferedOutputStream;
import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Standard input, output and error of one run, and its environment. Output is bytes: keys and
 * values need not be text. Output methods are thread-safe.
 */
public final class Console {
  private final InputStream in;
  private final BufferedOutputStream out;
  private final OutputStream err;
  private final Map<String, String> environment;
  private final boolean terminal;
  private final boolean ownStreams;

  /**
   * @param terminal whether standard error is a terminal, on which progress may be drawn
   * @param ownStreams whether the streams are those of the process, which commands inherit
   */
  public Console(
      InputStream in,
      OutputStream out,
      OutputStream err,
      Map<String, String> environment,
      boolean terminal,
      boolean ownStreams) {
    this.in = in;
    this.out = new BufferedOutputStream(out, 1 << 16);
    this.err = err;
    this.environment = Map.copyOf(environment);
    this.terminal = terminal;
    this.ownStreams = ownStreams;
  }

  public Map<String, String> environment() {
    return environment;
  }

  /** The value of a variable, or an empty string. */
  public String variable(String name) {
    return environment.getOrDefault(name, "");
  }

  /** Whether standard error is a terminal. */
  public boolean isTerminal() {
    return terminal;
  }

  /** Prints a line to standard output. */
  public void line(String text) {
    print(text + "\n");
  }

  /** Prints text to standard output. */
  public void print(String text) {
    bytes(ByteString.copyFromUtf8(text));
  }

  /** Prints bytes and a line end to standard output. */
  public void line(ByteString bytes) {
    bytes(bytes.concat(ByteString.copyFromUtf8("\n")));
  }

  /** Prints bytes to standard output. */
  public synchronized void bytes(ByteString bytes) {
    try {
      bytes.writeTo(out);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Passes buffered output on. */
  public synchronized void flush() {
    try {
      out.flush();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Prints a line to standard error, after the output so far. */
  public void error(String text) {
    errorPart(text + "\n");
  }

  /** Prints text to standard error, after the output so far. */
  public synchronized void errorPart(String text) {
    flush();
    try {
      err.write(text.getBytes(StandardCharsets.UTF_8));
      err.flush();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /**
   * Reads a line of standard input.
   *
   * @return without the line end; null at the end of the input, also after an incomplete line
   */
  public @Nullable ByteString readLine() {
    ByteArrayOutputStream line = new ByteArrayOutputStream();
    try {
      for (int c = in.read(); c >= 0; c = in.read()) {
        if (c == '\n') {
          return ByteString.copyFrom(line.toByteArray());
        }
        line.write(c);
      }
      return null;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Reads standard input to its end. */
  public ByteString readAll() {
    try {
      return ByteString.copyFrom(in.readAllBytes());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Reads one word of standard input; empty at its end. */
  public String readWord() {
    ByteArrayOutputStream word = new ByteArrayOutputStream();
    try {
      for (int c = in.read(); c >= 0; c = in.read()) {
        if (c > ' ') {
          word.write(c);
        } else if (word.size() > 0 || c == '\n') {
          break;
        }
      }
      return word.toString(StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /**
   * Runs a command with no input and waits for its end.
   *
   * @param variables added to the environment
   * @return its exit status
   * @throws CtlException if it cannot be started
   */
  public int run(List<String> command, Map<String, String> variables) {
    flush();
    ProcessBuilder builder = new ProcessBuilder(command);
    builder.environment().putAll(variables);
    builder.redirectInput(ProcessBuilder.Redirect.from(new File("/dev/null")));
    if (ownStreams) {
      builder.redirectOutput(ProcessBuilder.Redirect.INHERIT);
      builder.redirectError(ProcessBuilder.Redirect.INHERIT);
    } else {
      builder.redirectErrorStream(true);
    }
    try {
      Process process = builder.start();
      if (!ownStreams) {
        bytes(ByteString.readFrom(process.getInputStream()));
        flush();
      }
      return process.waitFor();
    } catch (IOException e) {
      throw new CtlException(ExitCode.ERROR, startError(command.get(0), e));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw CtlException.silent(ExitCode.INTERRUPTED);
    }
  }

  /** Returns etcdctl's text. The file system tells the cause: the JDKs' texts differ. */
  private static String startError(String program, IOException e) {
    if (!program.contains("/")) {
      return isOnPath(program)
          ? String.valueOf(e.getMessage())
          : "exec: \"" + program + "\": executable file not found in $PATH";
    }
    Path file = Path.of(program);
    if (!Files.exists(file)) {
      return "fork/exec " + program + ": no such file or directory";
    }
    return isProgram(file)
        ? String.valueOf(e.getMessage())
        : "fork/exec " + program + ": permission denied";
  }

  private static boolean isOnPath(String program) {
    return Stream.of(System.getenv().getOrDefault("PATH", "").split(File.pathSeparator))
        .anyMatch(directory -> isProgram(Path.of(directory, program)));
  }

  private static boolean isProgram(Path file) {
    return Files.isRegularFile(file) && Files.isExecutable(file);
  }

  /**
   * Asks for a password on the terminal, without an echo. Without a terminal it is the next line of
   * standard input.
   *
   * @throws CtlException if the input ends
   */
  @SuppressWarnings("SystemConsoleNull") // It is null before JDK 22.
  public String askPassword(String prompt) {
    java.io.Console device = System.console();
    if (device != null && terminal) {
      flush();
      char[] typed = device.readPassword("%s", prompt);
      if (typed != null) {
        return new String(typed);
      }
    } else {
      errorPart(prompt);
      ByteString line = readLine();
      if (line != null) {
        return line.toStringUtf8();
      }
    }
    throw CtlException.arguments("failed to ask password: EOF");
  }
}
