package io.troupe.testkit;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Field;
import java.util.List;

/**
 * Opens the packages of the JDK that Chronicle Queue accesses. The process of a member gets them
 * from the manifest of its jar; a test would need JVM flags (decision 0190). If the flags are
 * given, this class does nothing.
 */
final class OpenPackages {
  /** The flags with the same effect. */
  static final String FLAGS =
      "--add-opens=java.base/java.lang.reflect=ALL-UNNAMED"
          + " --add-opens=java.base/sun.nio.ch=ALL-UNNAMED"
          + " --add-exports=java.base/jdk.internal.ref=ALL-UNNAMED";

  private static final List<String> OPENED = List.of("java.lang.reflect", "sun.nio.ch");
  private static final List<String> EXPORTED = List.of("jdk.internal.ref");

  private OpenPackages() {}

  /**
   * Opens the packages for the whole JVM, once.
   *
   * @throws TroupeServerException with the needed flags if this JVM does not permit it
   */
  static synchronized void ensure() {
    Module base = Object.class.getModule();
    Module user = OpenPackages.class.getModule();
    if (OPENED.stream().allMatch(name -> base.isOpen(name, user))
        && EXPORTED.stream().allMatch(name -> base.isExported(name, user))) {
      return;
    }
    try {
      MethodHandles.Lookup lookup = unrestricted();
      MethodType type = MethodType.methodType(void.class, String.class);
      for (String name : OPENED) {
        lookup.findVirtual(Module.class, "implAddOpens", type).invoke(base, name);
      }
      for (String name : EXPORTED) {
        lookup.findVirtual(Module.class, "implAddExports", type).invoke(base, name);
      }
    } catch (Throwable refused) {
      throw new TroupeServerException(
          "cannot open packages of the JDK for Chronicle Queue; start the test JVM with " + FLAGS,
          refused);
    }
  }

  /** By reflection, because javac rejects any other use of Unsafe with {@code --release}. */
  private static MethodHandles.Lookup unrestricted() throws ReflectiveOperationException {
    Class<?> type = Class.forName("sun.misc.Unsafe");
    Field instance = type.getDeclaredField("theUnsafe");
    instance.setAccessible(true);
    Object unsafe = instance.get(null);
    Field lookup = MethodHandles.Lookup.class.getDeclaredField("IMPL_LOOKUP");
    Object base = type.getMethod("staticFieldBase", Field.class).invoke(unsafe, lookup);
    Object offset = type.getMethod("staticFieldOffset", Field.class).invoke(unsafe, lookup);
    return (MethodHandles.Lookup)
        type.getMethod("getObject", Object.class, long.class).invoke(unsafe, base, offset);
  }
}
