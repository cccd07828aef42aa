package io.troupe.ctl.command;

import io.troupe.ctl.cli.CtlException;
import io.troupe.ctl.cli.ExitCode;
import io.troupe.ctl.client.EtcdClient;
import io.troupe.ctl.client.EtcdMethods;
import io.troupe.ctl.client.LoginException;
import io.troupe.ctl.client.RpcException;
import io.troupe.grpc.api.SnapshotRequest;
import io.troupe.grpc.api.SnapshotResponse;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.Iterator;
import java.util.List;
import java.util.Set;
import picocli.CommandLine.Command;

/** Snapshots: save. */
@Command(name = "snapshot", description = "Manages snapshots of a member")
final class SnapshotCommands {
  /** A snapshot consists of blocks of this size and a digest. */
  private static final int BLOCK = 512;

  private static final int DIGEST = 32;

  private final Session session;

  SnapshotCommands(Session session) {
    this.session = session;
  }

  @Command(
      name = "save",
      customSynopsis = "save <filename>",
      description = "Writes the data of the member at the endpoint to a file")
  void save() {
    Path target = Path.of(session.onlyArg("snapshot save expects one argument <filename>"));
    List<String> endpoints = session.settings().endpoints();
    if (endpoints.size() != 1) {
      throw failure(
          "snapshot must be requested to one selected node, not multiple ["
              + String.join(" ", endpoints)
              + "]");
    }
    EtcdClient client = session.client();
    Path part = Path.of(target + ".part");
    String version;
    try {
      try {
        version = fetch(client, part, target);
      } finally {
        Files.deleteIfExists(part);
      }
    } catch (IOException e) {
      throw failure("could not write snapshot: " + e.getMessage());
    } catch (RpcException | LoginException e) {
      throw failure(String.valueOf(e.getMessage()));
    }
    session.console().line("Snapshot saved at " + target);
    if (!version.isEmpty()) {
      session.console().line("Server version " + version);
    }
  }

  private static CtlException failure(String message) {
    return new CtlException(ExitCode.INTERRUPTED, message);
  }

  private FileChannel open(Path part) throws IOException {
    try {
      return FileChannel.open(
          part,
          Set.of(
              StandardOpenOption.CREATE,
              StandardOpenOption.WRITE,
              StandardOpenOption.TRUNCATE_EXISTING),
          PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
    } catch (IOException e) {
      throw failure("could not open " + part + " (" + e.getMessage() + ")");
    }
  }

  /** Returns the version of the server. */
  private String fetch(EtcdClient client, Path part, Path target) throws IOException {
    Duration limit =
        session.isGiven("--command-timeout") ? session.options().commandTimeout : Duration.ZERO;
    String version = "";
    try (FileChannel file = open(part);
        Progress progress = Progress.bytes(session.console(), "fetching snapshot")) {
      long size = 0;
      Iterator<SnapshotResponse> responses =
          client.stream(EtcdMethods.SNAPSHOT, SnapshotRequest.getDefaultInstance(), limit);
      while (responses.hasNext()) {
        SnapshotResponse response = responses.next();
        version = response.getVersion().isEmpty() ? version : response.getVersion();
        ByteBuffer bytes = response.getBlob().asReadOnlyByteBuffer();
        while (bytes.hasRemaining()) {
          int written = file.write(bytes);
          size += written;
          progress.add(written);
        }
        progress.total(size + response.getRemainingBytes());
      }
      if (size % BLOCK != DIGEST) {
        throw failure("sha256 checksum not found [bytes: " + size + "]");
      }
      file.force(true);
    }
    Files.move(part, target, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    return version;
  }
}
