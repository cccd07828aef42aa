package io.troupe.node.process;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.Tag;

/**
 * A test of several members at once that mostly waits for them and counts no times. Two such
 * classes run side by side, apart from those of single members, which take all of the processors.
 */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@Tag("clusters")
public @interface Clusters {}
