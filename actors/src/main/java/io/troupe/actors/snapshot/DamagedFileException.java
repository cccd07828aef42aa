package io.troupe.actors.snapshot;

import io.troupe.persistence.snapshot.SnapshotManifest.FileSum;
import java.io.IOException;

/** A file of this member's own snapshot does not match its manifest. */
final class DamagedFileException extends IOException {
  private static final long serialVersionUID = 1L;

  private final transient FileSum file;

  DamagedFileException(FileSum file) {
    super(file.name() + " of this member does not match its checksum");
    this.file = file;
  }

  FileSum file() {
    return file;
  }
}
