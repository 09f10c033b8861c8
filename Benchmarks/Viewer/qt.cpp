// A viewer as one writes it with Qt: pixmaps in QPixmapCache, read at the size of the window when they are not there.
//
//   qt FOLDER     looks at FOLDER/1.jpg and so on in the order on standard input
#include <QGuiApplication>
#include <QImage>
#include <QImageReader>
#include <QPixmap>
#include <QPixmapCache>
#include <cstdio>
#include <vector>

static const QSize size(500, 375);

// Looks at some of the pixels, as both programs do: the sum of the colours in every eighth row.
static long long look(const QPixmap &pixmap) {
  // The pixmap's own pixels: they are shared, not copied.
  const QImage image = pixmap.toImage();
  long long sum = 0;
  for (int y = 0; y < image.height(); y += 8) {
    const QRgb *row = reinterpret_cast<const QRgb *>(image.constScanLine(y));
    for (int x = 0; x < image.width(); x++) sum += qRed(row[x]) + qGreen(row[x]) + qBlue(row[x]);
  }
  return sum;
}

int main(int count, char **words) {
  QGuiApplication application(count, words);
  if (count != 2) return 2;
  const QString folder = QString::fromLocal8Bit(words[1]);
  QPixmapCache::setCacheLimit(32 * 1024);
  std::vector<QPixmapCache::Key> keys;
  int photo, hits = 0, decoded = 0;
  long long sum = 0;
  while (std::scanf("%d", &photo) == 1) {
    if (keys.size() <= static_cast<size_t>(photo)) keys.resize(photo + 1);
    QPixmap pixmap;
    if (QPixmapCache::find(keys[photo], &pixmap)) {
      hits++;
    } else {
      QImageReader reader(QStringLiteral("%1/%2.jpg").arg(folder).arg(photo + 1));
      reader.setScaledSize(size);
      pixmap = QPixmap::fromImageReader(&reader);
      if (pixmap.size() != size) return 1;
      keys[photo] = QPixmapCache::insert(pixmap);
      decoded++;
    }
    sum += look(pixmap);
  }
  std::printf("{\"hits\": %d, \"decoded\": %d, \"sum\": %lld}\n", hits, decoded, sum);
  return 0;
}
