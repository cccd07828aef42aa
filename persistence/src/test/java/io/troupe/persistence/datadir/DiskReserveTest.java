package io.troupe.persistence.datadir;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** FullDiskIT tests full disks. */
class DiskReserveTest {
  private final Path directory;

  DiskReserveTest(@TempDir Path temp) {
    this.directory = temp;
  }

  @Test
  void isCreatedOnceWithItsSize() throws IOException {
    DiskReserve reserve = new DiskReserve(directory, (3 << 20) + 5);
    assertThat(reserve.presentBytes()).isZero();
    reserve.keep(0);
    assertThat(reserve.file()).hasSize((3 << 20) + 5);
    assertThat(reserve.presentBytes()).isEqualTo(reserve.wantedBytes()).isEqualTo((3 << 20) + 5);
    var made = Files.getLastModifiedTime(reserve.file());
    reserve.keep(0);
    assertThat(Files.getLastModifiedTime(reserve.file())).isEqualTo(made);
    Files.write(reserve.file(), new byte[7]);
    reserve.keep(0);
    assertThat(reserve.file()).hasSize((3 << 20) + 5);
    assertThat(reserve.releaseIfFull()).as("the disk has space").isFalse();
  }

  @Test
  void isNotCreatedWhenTooLittleSpaceWouldRemain() throws IOException {
    new DiskReserve(directory, 1000).keep(Long.MAX_VALUE / 2);
    assertThat(directory).isEmptyDirectory();
    new DiskReserve(directory, 0).keep(0);
    assertThat(directory).isEmptyDirectory();
  }
}
