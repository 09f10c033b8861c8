Memchunk.main()
