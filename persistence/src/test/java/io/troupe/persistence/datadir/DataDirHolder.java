package io.troupe.persistence.datadir;

import java.io.IOException;
import java.nio.file.Path;

/** A process that holds a data directory until it is killed. */
final class DataDirHolder {
  private DataDirHolder() {}

  public static void main(String[] args) throws IOException {
    try (DataDir dir = DataDir.open(Path.of(args[0]))) {
      System.out.println("held");
      System.out.flush();
      // Waits for the end of the input.
      int end = System.in.read();
      System.out.println("released " + dir.root() + end);
    }
  }
}
