// Draws the points of the map with WebGL: one buffer with a record for each point, drawn by one call. A point's
// colour is looked up in a palette of 256 by one of its four bytes. A picture of all points can be kept and moved, which
// takes little time where points are drawn by software.

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

// The kept picture: a rectangle of the map.
const kPictureVertexShader = `
attribute vec2 corner;
uniform vec2 offset;
uniform vec2 stretch;
varying vec2 at;
void main() {
  gl_Position = vec4(corner * stretch + offset, 0.0, 1.0);
  at = (corner + 1.0) / 2.0;
}`;

const kPictureFragmentShader = `
precision mediump float;
uniform sampler2D picture;
varying vec2 at;
void main() { gl_FragColor = vec4(texture2D(picture, at).rgb, 1.0); }`;

function makeProgram(gl, vertex, fragment) {
  const program = gl.createProgram();
  for (const [type, source] of [[gl.VERTEX_SHADER, vertex], [gl.FRAGMENT_SHADER, fragment]]) {
    const shader = gl.createShader(type);
    gl.shaderSource(shader, source);
    gl.compileShader(shader);
    if (!gl.getShaderParameter(shader, gl.COMPILE_STATUS)) throw new Error(gl.getShaderInfoLog(shader));
    gl.attachShader(program, shader);
  }
  gl.linkProgram(program);
  if (!gl.getProgramParameter(program, gl.LINK_STATUS)) throw new Error(gl.getProgramInfoLog(program));
  return program;
}

function makeTexture(gl, filter) {
  const texture = gl.createTexture();
  gl.bindTexture(gl.TEXTURE_2D, texture);
  for (const [key, value] of [[gl.TEXTURE_MIN_FILTER, filter], [gl.TEXTURE_MAG_FILTER, filter],
    [gl.TEXTURE_WRAP_S, gl.CLAMP_TO_EDGE], [gl.TEXTURE_WRAP_T, gl.CLAMP_TO_EDGE]]) gl.texParameteri(gl.TEXTURE_2D, key, value);
  return texture;
}

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
    this.points = makeProgram(gl, kVertexShader, kFragmentShader);
    this.uniforms = Object.fromEntries(["center", "scale", "size", "choice", "alpha"].map(
      (name) => [name, gl.getUniformLocation(this.points, name)]));
    this.records = gl.createBuffer();
    gl.bindBuffer(gl.ARRAY_BUFFER, this.records);
    gl.bufferData(gl.ARRAY_BUFFER, bytes, gl.STATIC_DRAW);
    this.picture = makeProgram(gl, kPictureVertexShader, kPictureFragmentShader);
    this.corners = gl.createBuffer();
    gl.bindBuffer(gl.ARRAY_BUFFER, this.corners);
    gl.bufferData(gl.ARRAY_BUFFER, new Float32Array([-1, -1, 1, -1, -1, 1, 1, 1]), gl.STATIC_DRAW);
    this.palette = makeTexture(gl, gl.NEAREST);
    this.copy = makeTexture(gl, gl.LINEAR);
    this.kept = null;
    gl.blendFunc(gl.SRC_ALPHA, gl.ONE_MINUS_SRC_ALPHA);
  }

  // `colours`: 256 times [r, g, b] of 0 to 255.
  setPalette(colours) {
    this.colours = colours;
    this.kept = null;
    const gl = this.gl;
    gl.bindTexture(gl.TEXTURE_2D, this.palette);
    gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGB, 256, 1, 0, gl.RGB, gl.UNSIGNED_BYTE, new Uint8Array(colours.flat()));
  }

  // Draws the first `count` points: ids are in the order of the names' hashes, so the first ones are a random sample.
  draw(view, { ground, choice, size, alpha, count = this.count }) {
    const gl = this.gl;
    if (this.lost) return;
    gl.viewport(0, 0, this.canvas.width, this.canvas.height);
    gl.clearColor(...ground.map((part) => part / 255), 1);
    gl.clear(gl.COLOR_BUFFER_BIT);
    gl.useProgram(this.points);
    gl.uniform2f(this.uniforms.center, view.x, view.y);
    gl.uniform2f(this.uniforms.scale, ...view.scale(this.canvas));
    gl.uniform1f(this.uniforms.size, size);
    gl.uniform1f(this.uniforms.alpha, alpha);
    gl.uniform4f(this.uniforms.choice, ...[0, 1, 2, 3].map((i) => (i === choice ? 1 : 0)));
    gl.bindTexture(gl.TEXTURE_2D, this.palette);
    gl.bindBuffer(gl.ARRAY_BUFFER, this.records);
    this.attribute(this.points, "place", 2, gl.FLOAT, false, kRecordBytes, 0);
    this.attribute(this.points, "kinds", 4, gl.UNSIGNED_BYTE, true, kRecordBytes, 8);
    gl.enable(gl.BLEND);
    gl.drawArrays(gl.POINTS, 0, Math.min(count, this.count));
  }

  attribute(program, name, ...layout) {
    const place = this.gl.getAttribLocation(program, name);
    this.gl.enableVertexAttribArray(place);
    this.gl.vertexAttribPointer(place, ...layout);
  }

  // Keeps the picture that was just drawn of `view`.
  keep(view) {
    const gl = this.gl;
    if (this.lost) return;
    gl.bindTexture(gl.TEXTURE_2D, this.copy);
    gl.copyTexImage2D(gl.TEXTURE_2D, 0, gl.RGB, 0, 0, this.canvas.width, this.canvas.height, 0);
    this.kept = { x: view.x, y: view.y, scale: view.scale(this.canvas) };
  }

  // Draws the kept picture where it is in `view`, over what is drawn there. Returns whether there is one.
  drawKept(view) {
    const gl = this.gl;
    if (this.lost || this.kept === null) return false;
    const scale = view.scale(this.canvas);
    gl.useProgram(this.picture);
    gl.uniform2f(gl.getUniformLocation(this.picture, "offset"),
      (this.kept.x - view.x) * scale[0], (this.kept.y - view.y) * scale[1]);
    gl.uniform2f(gl.getUniformLocation(this.picture, "stretch"),
      scale[0] / this.kept.scale[0], scale[1] / this.kept.scale[1]);
    gl.bindTexture(gl.TEXTURE_2D, this.copy);
    gl.bindBuffer(gl.ARRAY_BUFFER, this.corners);
    this.attribute(this.picture, "corner", 2, gl.FLOAT, false, 0, 0);
    gl.disable(gl.BLEND);
    gl.drawArrays(gl.TRIANGLE_STRIP, 0, 4);
    return true;
  }

  // Waits until the picture is there, for measurements.
  finish() { this.gl.readPixels(0, 0, 1, 1, this.gl.RGBA, this.gl.UNSIGNED_BYTE, new Uint8Array(4)); }
}
