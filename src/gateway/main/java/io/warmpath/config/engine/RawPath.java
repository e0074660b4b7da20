package io.warmpath.config.engine;

/** Whether answers may pass the server's HTTP codec. */
public enum RawPath {
    /** Past it wherever that is possible. */
    AUTO,
    /** Always through it: several times the CPU, for debugging. */
    OFF
}
