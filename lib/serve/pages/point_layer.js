// Draws the points of the map with WebGL: one buffer with a record for each point, drawn by one call. A point's
// colour is looked up in a palette of 256 by one of its four bytes.

const kRecordBytes = 12;

const kVertexShader = `
attribute vec2 place;
attribute vec4 kinds;
uniform vec2 center;
uniform vec2 scale;
uniform mediump float size;
uniform vec4 choice;
varying float kind;
void main() {
  gl_Position = vec4((place - center) * scale, 0.0, 1.0);
  gl_PointSize = size;
  kind = dot(kinds, choice);
}`;

const kFragmentShader = `
precision mediump float;
uniform sampler2D palette;
uniform float alpha;
uniform float size;
varying float kind;
void main() {
  if (size > 3.0 && length(gl_PointCoord - 0.5) > 0.5) discard;
  gl_FragColor = vec4(texture2D(palette, vec2((kind * 255.0 + 0.5) / 256.0, 0.5)).rgb, alpha);
}`;

export class PointLayer {
  // Throws an Error if the browser has no WebGL.
  constructor(canvas, bytes) {
    this.canvas = canvas;
    this.count = bytes.byteLength / kRecordBytes;
    this.gl = canvas.getContext("webgl", { antialias: false, alpha: false, powerPreference: "high-performance" });
    if (this.gl === null) throw new Error("The map needs WebGL, which this browser does not have.");
    this.lost = false;
    canvas.addEventListener("webglcontextlost", (event) => { event.preventDefault(); this.lost = true; });
    canvas.addEventListener("webglcontextrestored", () => { this.lost = false; this.prepare(bytes); this.setPalette(this.colours); });
    this.prepare(bytes);
  }

  prepare(bytes) {
    const gl = this.gl;
    const program = gl.createProgram();
    for (const [type, source] of [[gl.VERTEX_SHADER, kVertexShader], [gl.FRAGMENT_SHADER, kFragmentShader]]) {
      const shader = gl.createShader(type);
      gl.shaderSource(shader, source);
      gl.compileShader(shader);
      if (!gl.getShaderParameter(shader, gl.COMPILE_STATUS)) throw new Error(gl.getShaderInfoLog(shader));
      gl.attachShader(program, shader);
    }
    gl.linkProgram(program);
    if (!gl.getProgramParameter(program, gl.LINK_STATUS)) throw new Error(gl.getProgramInfoLog(program));
    gl.useProgram(program);
    this.uniforms = Object.fromEntries(["center", "scale", "size", "choice", "alpha"].map(
      (name) => [name, gl.getUniformLocation(program, name)]));
    gl.bindBuffer(gl.ARRAY_BUFFER, gl.createBuffer());
    gl.bufferData(gl.ARRAY_BUFFER, bytes, gl.STATIC_DRAW);
    const place = gl.getAttribLocation(program, "place");
    const kinds = gl.getAttribLocation(program, "kinds");
    gl.enableVertexAttribArray(place);
    gl.enableVertexAttribArray(kinds);
    gl.vertexAttribPointer(place, 2, gl.FLOAT, false, kRecordBytes, 0);
    gl.vertexAttribPointer(kinds, 4, gl.UNSIGNED_BYTE, true, kRecordBytes, 8);
    gl.bindTexture(gl.TEXTURE_2D, gl.createTexture());
    for (const [key, value] of [[gl.TEXTURE_MIN_FILTER, gl.NEAREST], [gl.TEXTURE_MAG_FILTER, gl.NEAREST],
      [gl.TEXTURE_WRAP_S, gl.CLAMP_TO_EDGE], [gl.TEXTURE_WRAP_T, gl.CLAMP_TO_EDGE]]) gl.texParameteri(gl.TEXTURE_2D, key, value);
    gl.enable(gl.BLEND);
    gl.blendFunc(gl.SRC_ALPHA, gl.ONE_MINUS_SRC_ALPHA);
  }

  // `colours`: 256 times [r, g, b] of 0 to 255.
  setPalette(colours) {
    this.colours = colours;
    const gl = this.gl;
    gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGB, 256, 1, 0, gl.RGB, gl.UNSIGNED_BYTE, new Uint8Array(colours.flat()));
  }

  // Draws the first `count` points: ids are in the order of the names' hashes, so the first ones are a random sample.
  draw(view, { ground, choice, size, alpha, count = this.count }) {
    const gl = this.gl;
    if (this.lost) return;
    gl.viewport(0, 0, this.canvas.width, this.canvas.height);
    gl.clearColor(...ground.map((part) => part / 255), 1);
    gl.clear(gl.COLOR_BUFFER_BIT);
    gl.uniform2f(this.uniforms.center, view.x, view.y);
    gl.uniform2f(this.uniforms.scale, ...view.scale(this.canvas));
    gl.uniform1f(this.uniforms.size, size);
    gl.uniform1f(this.uniforms.alpha, alpha);
    gl.uniform4f(this.uniforms.choice, ...[0, 1, 2, 3].map((i) => (i === choice ? 1 : 0)));
    gl.drawArrays(gl.POINTS, 0, Math.min(count, this.count));
  }

  // Waits until the picture is there, for measurements.
  finish() { this.gl.readPixels(0, 0, 1, 1, this.gl.RGBA, this.gl.UNSIGNED_BYTE, new Uint8Array(4)); }
}
