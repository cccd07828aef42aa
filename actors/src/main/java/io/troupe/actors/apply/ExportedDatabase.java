package io.troupe.actors.apply;

import io.troupe.etcd.DatabaseExport;
import io.troupe.model.Bytes;
import io.troupe.model.ClusterVersions;
import io.troupe.protocol.DatabaseFile;

/** {@link DatabaseFile} of the state of this process. */
record ExportedDatabase(DatabaseExport export) implements DatabaseFile {
  @Override
  public long revision() {
    return export.position().revision();
  }

  @Override
  public ClusterVersions versions() {
    return export.versions();
  }

  @Override
  public boolean measure(int records) {
    return export.measure(records);
  }

  @Override
  public long bytes() {
    return export.fileBytes();
  }

  @Override
  public long mostBytesOfOne() {
    return export.mostBytesOfOne();
  }

  @Override
  public Bytes read(int most) {
    return export.read(most);
  }

  @Override
  public void close() {
    export.close();
  }
}
