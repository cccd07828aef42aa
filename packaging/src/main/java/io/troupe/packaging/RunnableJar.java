package io.troupe.packaging;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import org.apache.commons.compress.archivers.zip.ZipArchiveEntry;
import org.apache.commons.compress.archivers.zip.ZipArchiveOutputStream;
import org.apache.commons.compress.archivers.zip.ZipFile;

/**
 * Rewrites a jar for fast starts: {@link PlainLambdas} in some packages, {@link BareConfig} for the
 * defaults. All other entries are copied as stored, in the same order.
 */
public final class RunnableJar {
  private static final Set<String> CONFIGS = Set.of("reference.conf", "troupe-defaults.conf");

  /** Licenses require a notice of changed files. */
  private static final String NOTICE = "META-INF/CHANGED-CLASSES.txt";

  private final List<String> packages;

  /**
   * Creates a rewriter.
   *
   * @param packages prefixes of entries: {@code org/apache/pekko/}
   */
  RunnableJar(List<String> packages) {
    this.packages = packages;
  }

  /**
   * Rewrites a jar.
   *
   * @param args the jar, the jar to create, then the packages whose lambdas are rewritten ({@code
   *     org.apache.pekko})
   */
  public static void main(String[] args) throws IOException {
    List<String> packages =
        List.of(args).subList(2, args.length).stream()
            .map(name -> name.replace('.', '/') + "/")
            .toList();
    System.out.println(new RunnableJar(packages).rewrite(Path.of(args[0]), Path.of(args[1])));
  }

  /**
   * Rewrites a jar; returns a line for the build log. A target with the same content is left as it
   * is: archives of loaded classes are valid for one jar of one time.
   */
  String rewrite(Path assembled, Path jar) throws IOException {
    Path made = jar.resolveSibling(jar.getFileName() + ".rewritten");
    String done;
    try (ZipFile in = ZipFile.builder().setPath(assembled).get();
        ZipArchiveOutputStream out = new ZipArchiveOutputStream(made)) {
      PlainLambdas lambdas = new PlainLambdas(name -> classFile(in, name));
      List<ZipArchiveEntry> entries = Collections.list(in.getEntriesInPhysicalOrder());
      for (ZipArchiveEntry entry : entries) {
        copy(in, entry, out, lambdas);
      }
      byte[] notice = notice().getBytes(StandardCharsets.UTF_8);
      // The time of another entry, so that the same sources create the same jar.
      write(named(NOTICE, entries.get(0)), notice, out);
      done = lambdas.rewritten() + " lambdas made plain, " + lambdas.kept() + " kept: " + jar;
    } catch (IOException | RuntimeException failure) {
      Files.deleteIfExists(made);
      throw failure;
    }
    if (Files.exists(jar) && Files.mismatch(made, jar) < 0) {
      Files.delete(made);
      return done + ", as before";
    }
    Files.move(made, jar, StandardCopyOption.REPLACE_EXISTING, StandardCopyOption.ATOMIC_MOVE);
    return done;
  }

  private void copy(
      ZipFile in, ZipArchiveEntry entry, ZipArchiveOutputStream out, PlainLambdas lambdas)
      throws IOException {
    String name = entry.getName();
    if (name.endsWith(".class") && packages.stream().anyMatch(name::startsWith)) {
      byte[] before = content(in, entry);
      byte[] after = lambdas.of(before);
      if (after != before) {
        write(named(name, entry), after, out);
        return;
      }
    } else if (CONFIGS.contains(name)) {
      String bare = BareConfig.of(new String(content(in, entry), StandardCharsets.UTF_8));
      write(named(name, entry), bare.getBytes(StandardCharsets.UTF_8), out);
      return;
    }
    try (InputStream raw = in.getRawInputStream(entry)) {
      out.addRawArchiveEntry(entry, raw);
    }
  }

  private static ZipArchiveEntry named(String name, ZipArchiveEntry sameTime) {
    ZipArchiveEntry entry = new ZipArchiveEntry(name);
    entry.setTime(sameTime.getTime());
    return entry;
  }

  private static void write(ZipArchiveEntry entry, byte[] content, ZipArchiveOutputStream out)
      throws IOException {
    out.putArchiveEntry(entry);
    out.write(content);
    out.closeArchiveEntry();
  }

  private String notice() {
    return packages.stream()
        .map(name -> name.replace('/', '.') + "*")
        .collect(
            Collectors.joining(
                "\n",
                "Changed by Troupe's build, in this jar only: in classes of these packages lambdas"
                    + " that could be\nserialized no longer can.\n\n",
                "\n\nConfiguration files have lost their comments.\n"));
  }

  /** A class file of the jar, or of the JDK that runs the build. */
  private static Optional<byte[]> classFile(ZipFile in, String name) {
    String path = name + ".class";
    try {
      ZipArchiveEntry entry = in.getEntry(path);
      if (entry != null) {
        return Optional.of(content(in, entry));
      }
      try (InputStream system = ClassLoader.getSystemResourceAsStream(path)) {
        return system == null ? Optional.empty() : Optional.of(system.readAllBytes());
      }
    } catch (IOException broken) {
      throw new UncheckedIOException(broken);
    }
  }

  private static byte[] content(ZipFile in, ZipArchiveEntry entry) throws IOException {
    try (InputStream stream = in.getInputStream(entry)) {
      return stream.readAllBytes();
    }
  }
}
