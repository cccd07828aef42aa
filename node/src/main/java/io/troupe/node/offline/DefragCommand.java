package io.troupe.node.offline;

import io.troupe.mvcc.StoreException;
import io.troupe.node.logging.ProcessLogging;
import io.troupe.persistence.datadir.DataDir;
import io.troupe.persistence.store.RocksStore;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/**
 * {@code defrag --data-dir} of etcdutl (7.3). A member frees space by itself; this rewrites the
 * state at once while the member is stopped.
 */
@Command(
    name = "defrag",
    description = "Rewrites the state of a stopped member, so that deleted records need no space",
    mixinStandardHelpOptions = true)
final class DefragCommand implements Callable<Integer> {
  @Mixin private final StoppedMember member = new StoppedMember();
  @Mixin private final OutputFlags flags = new OutputFlags();

  @Override
  public Integer call() {
    flags.form();
    Path root = member.dataDir();
    if (root != null && Files.exists(root.resolve("member").resolve("snap"))) {
      throw new CommandException(root + " is a data directory of etcd: use etcdutl defrag");
    }
    ProcessLogging.begin();
    try (DataDir files = member.open();
        RocksStore store = RocksStore.open(files.state(), StoppedMember.STORE)) {
      long before = store.sizeOnDisk();
      store.compactFully();
      System.err.printf("%s: %d bytes, before %d%n", files.state(), store.sizeOnDisk(), before);
    } catch (StoreException e) {
      throw new CommandException(
          "Failed to defragment data[" + root + "] (" + e.getMessage() + ")");
    }
    return 0;
  }
}
