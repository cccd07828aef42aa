package io.troupe.packaging;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.reflect.Method;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.Handle;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.Type;

class PlainLambdasTest {
  private static final Type STRINGS = Type.getMethodType("(Ljava/lang/String;)Ljava/lang/String;");

  private final PlainLambdas lambdas = new PlainLambdas(PlainLambdasTest::classFile);

  @Test
  void rewrittenLambdasBehaveTheSame() throws Exception {
    Class<?> rewritten = load(Lambdas.class.getName(), lambdas.of(bytes(Lambdas.class)));

    assertThat(PlainLambdasTest.<String, Integer>function(rewritten, "length", 3).apply("four"))
        .isEqualTo(7);
    assertThat(supplier(rewritten, "plain").get()).isEqualTo("plain");
  }

  @Test
  void requiredBridgeIsKept() throws Exception {
    Class<?> rewritten = load(Lambdas.class.getName(), lambdas.of(bytes(Lambdas.class)));

    // Without the bridge this is an AbstractMethodError.
    assertThat(made(rewritten, "throughBoth", 5)).isEqualTo("number 5, number 5");
  }

  @Test
  void classWithCastToSerializableIsKept() throws Exception {
    byte[] before = bytes(CastLambdas.class);

    byte[] after = lambdas.of(before);

    assertThat(after).isSameAs(before);
    // With the plain form the cast fails.
    assertThat(supplier(load(CastLambdas.class.getName(), after), "cast").get()).isEqualTo("cast");
  }

  @Test
  void lambdaWithMarkersIsKept() throws Exception {
    byte[] before = likeScala("java/util/function/Function", 3, "java/lang/Cloneable");

    byte[] after = lambdas.of(before);

    assertThat(after).isSameAs(before);
    assertThat(function(load("Like", after), "make")).isInstanceOf(Cloneable.class);
  }

  @Test
  void otherLambdasArePlain() throws Exception {
    lambdas.of(bytes(Lambdas.class));

    // Lambdas that may be serialized occur again in the code that deserializes them.
    assertThat(lambdas.rewritten()).isEqualTo(2);
    assertThat(lambdas.kept()).isEqualTo(1);
  }

  /** The Scala compiler gives a lambda of Function1 a bridge with the types of its body. */
  @Test
  void uncallableBridgeIsRemoved() throws Exception {
    Class<?> rewritten =
        load("Like", lambdas.of(likeScala("java/util/function/Function", 5, STRINGS)));

    assertThat(lambdas.rewritten()).isEqualTo(1);
    Function<String, String> trim = function(rewritten, "make");
    assertThat(trim.apply(" a ")).isEqualTo("a");
    assertThat(trim).isNotInstanceOf(java.io.Serializable.class);
  }

  @Test
  void bridgeOfUnknownInterfaceIsKept() {
    byte[] before = likeScala("not/There", 5, STRINGS);

    assertThat(lambdas.of(before)).isSameAs(before);
    assertThat(lambdas.kept()).isEqualTo(1);
  }

  @Test
  void classWithoutSerializableLambdaIsUnchanged() {
    byte[] before = bytes(PlainLambdasTest.class);

    assertThat(lambdas.of(before)).isSameAs(before);
    assertThat(lambdas.rewritten() + lambdas.kept()).isZero();
  }

  /**
   * A class with {@code static make()}: a lambda of the interface, String::trim.
   *
   * @param more the additional types that the flags announce, without their number
   */
  private static byte[] likeScala(String type, int flags, Object more) {
    ClassWriter writer = new ClassWriter(0);
    writer.visit(Opcodes.V1_8, Opcodes.ACC_PUBLIC, "Like", null, "java/lang/Object", new String[0]);
    MethodVisitor make =
        writer.visitMethod(
            Opcodes.ACC_PUBLIC | Opcodes.ACC_STATIC, "make", "()L" + type + ";", null, null);
    make.visitCode();
    make.visitInvokeDynamicInsn(
        "apply",
        "()L" + type + ";",
        new Handle(
            Opcodes.H_INVOKESTATIC,
            "java/lang/invoke/LambdaMetafactory",
            "altMetafactory",
            "(Ljava/lang/invoke/MethodHandles$Lookup;Ljava/lang/String;"
                + "Ljava/lang/invoke/MethodType;[Ljava/lang/Object;)Ljava/lang/invoke/CallSite;",
            false),
        Type.getMethodType("(Ljava/lang/Object;)Ljava/lang/Object;"),
        new Handle(
            Opcodes.H_INVOKEVIRTUAL, "java/lang/String", "trim", "()Ljava/lang/String;", false),
        STRINGS,
        flags,
        1,
        more instanceof String name ? Type.getObjectType(name) : more);
    make.visitInsn(Opcodes.ARETURN);
    make.visitMaxs(1, 0);
    make.visitEnd();
    writer.visitEnd();
    return writer.toByteArray();
  }

  @SuppressWarnings("unchecked") // As the caller says.
  private static <A, B> Function<A, B> function(Class<?> type, String name, Object... arguments)
      throws ReflectiveOperationException {
    return (Function<A, B>) made(type, name, arguments);
  }

  private static Supplier<?> supplier(Class<?> type, String name)
      throws ReflectiveOperationException {
    return (Supplier<?>) made(type, name);
  }

  private static Object made(Class<?> type, String name, Object... arguments)
      throws ReflectiveOperationException {
    for (Method method : type.getDeclaredMethods()) {
      if (method.getName().equals(name)) {
        method.setAccessible(true);
        return method.invoke(null, arguments);
      }
    }
    throw new NoSuchMethodException(name);
  }

  /** Uses a separate loader, because the tests' loader has the class before the rewrite. */
  private static Class<?> load(String name, byte[] classFile) throws ClassNotFoundException {
    return new ClassLoader(PlainLambdasTest.class.getClassLoader()) {
      @Override
      protected Class<?> loadClass(String wanted, boolean resolve) throws ClassNotFoundException {
        if (wanted.equals(name)) {
          return defineClass(name, classFile, 0, classFile.length);
        }
        if (wanted.startsWith(name + "$")) {
          byte[] nested = classFile(wanted.replace('.', '/')).orElseThrow();
          return defineClass(wanted, nested, 0, nested.length);
        }
        return super.loadClass(wanted, resolve);
      }
    }.loadClass(name);
  }

  private static byte[] bytes(Class<?> type) {
    return classFile(type.getName().replace('.', '/')).orElseThrow();
  }

  private static Optional<byte[]> classFile(String name) {
    try (InputStream in = ClassLoader.getSystemResourceAsStream(name + ".class")) {
      return in == null ? Optional.empty() : Optional.of(in.readAllBytes());
    } catch (IOException broken) {
      throw new UncheckedIOException(broken);
    }
  }
}
