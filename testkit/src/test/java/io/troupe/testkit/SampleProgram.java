package io.troupe.testkit;

import java.nio.file.Path;

/** A program that uses a server and ends without closing it. Prints the endpoints. */
final class SampleProgram {
  private SampleProgram() {}

  /**
   * Runs the program.
   *
   * @param args number of members
   */
  public static void main(String[] args) {
    TroupeServer server = TroupeServer.builder().members(Integer.parseInt(args[0])).start();
    try (TestClient client = new TestClient(server.endpoints())) {
      client.put("key", "value");
    }
    server.endpoints().forEach(System.out::println);
    System.out.println(Path.of(System.getProperty("java.io.tmpdir")).toFile().list().length);
    if (Thread.getDefaultUncaughtExceptionHandler() != null) {
      System.out.println("uncaught exception handler");
    }
    System.exit(7);
  }
}
