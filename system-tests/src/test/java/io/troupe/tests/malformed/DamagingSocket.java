package io.troupe.tests.malformed;

import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.Socket;
import java.util.Arrays;
import java.util.Random;

/** A socket that damages one of the written parts, counted from 0. */
final class DamagingSocket extends Socket {
  private final Random random;
  private final int damaged;
  private int parts;

  DamagingSocket(Random random, int damaged) {
    this.random = random;
    this.damaged = damaged;
  }

  @Override
  public OutputStream getOutputStream() throws IOException {
    return new FilterOutputStream(super.getOutputStream()) {
      @Override
      public void write(byte[] bytes, int offset, int length) throws IOException {
        byte[] part = Arrays.copyOfRange(bytes, offset, offset + length);
        out.write(parts++ == damaged ? Mutations.of(random, part) : part);
      }
    };
  }
}
